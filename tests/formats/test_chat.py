from decimal import Decimal

from floorbench.formats import Document, Entry, Tier, read, write


def entry(start, end, text, **more):
    return Entry(start=Decimal(start), end=Decimal(end), text=text, **more)


def test_other_formats_become_a_dialogue_in_time_order(tmp_path):
    document = Document(
        tiers=(
            Tier(name="user", entries=(entry("1", "2", "hello ."), entry("5", "6", "bye ."))),
            Tier(name="sys tem", entries=(entry("2.5", "4", "how are you ?"),)),
        )
    )
    losses = write(document, tmp_path / "a.cha")
    assert (tmp_path / "a.cha").read_text(encoding="utf-8") == (
        "@UTF8\n@Begin\n@Participants:\tuser Participant, sys_tem Participant\n"
        "*user:\thello . \x151000_2000\x15\n*sys_tem:\thow are you ? \x152500_4000\x15\n"
        "*user:\tbye . \x155000_6000\x15\n@End\n"
    )
    assert [str(loss) for loss in losses] == [
        "tier 'sys tem': name and speaker written as 'sys_tem'"
    ]


def test_an_associated_tier_becomes_a_dependent_line(tmp_path):
    a = Tier(name="A", entries=(entry("1", "2", "hello ."),))
    act = Tier(
        name="Dialogue act", parent="A", constraint="Symbolic_Association",
        entries=(entry("1", "2", "greet", parent=0),),
    )  # fmt: skip
    losses = write(Document(tiers=(a, act)), tmp_path / "a.cha")
    assert "%xdialogueact:\tgreet\n" in (tmp_path / "a.cha").read_text(encoding="utf-8")
    assert read(tmp_path / "a.cha").tier("A %xdialogueact").entries[0].parent == 0
    assert [str(loss) for loss in losses] == ["tier 'Dialogue act': name written as %xdialogueact"]


def test_the_order_of_utterances_without_marks_is_kept(tmp_path):
    text = (
        "@UTF8\n@Begin\n@Participants:\tA Participant, B Participant\n"
        "*B:\tone .\n*A:\ttwo .\n*B:\tthree . \x15100_200\x15\n*A:\tfour .\n@End\n"
    )
    (tmp_path / "a.cha").write_text(text, encoding="utf-8")
    document = read(tmp_path / "a.cha", strict=True)
    assert [tier.name for tier in document.tiers] == ["A", "B"]
    assert write(document, tmp_path / "b.cha") == []
    assert (tmp_path / "b.cha").read_text(encoding="utf-8") == text


def test_a_header_value_cannot_smuggle_in_an_utterance(tmp_path):
    document = Document(metadata={"@Comment": "x\r*A:\tnot said", "@Bad\tname": "y"})
    write(document, tmp_path / "a.cha")
    assert read(tmp_path / "a.cha").tiers == ()


def test_a_participants_line_that_stands_twice_gives_no_tier_twice(tmp_path):
    path = tmp_path / "a.cha"
    head = "@UTF8\n@Begin\n" + "@Participants:\tA Ann Adult, B Bob Adult\n" * 3
    path.write_text(f"{head}*A:\thello .\n*B:\thi .\n@End\n")
    assert [(t.name, len(t.entries)) for t in read(path).tiers] == [("A", 1), ("B", 1)]
