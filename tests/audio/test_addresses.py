import pytest

from floorbench.audio.addresses import is_url, join, shown


@pytest.mark.parametrize(
    ("folder", "joined"),
    [
        ("/data/set", "/data/set/a.tar"),
        ("set", "set/a.tar"),
        ("s3://bucket/set/", "s3://bucket/set/a.tar"),
        ("memory://", "memory://a.tar"),
        ("zip://::/data/x.zip", "zip://a.tar::/data/x.zip"),
        ("zip://in::s3://b/x.zip", "zip://in/a.tar::s3://b/x.zip"),
        ("simplecache::s3://b/set", "simplecache::s3://b/set/a.tar"),
        ("https://h/set?sv=1&sig=s", "https://h/set/a.tar?sv=1&sig=s"),
    ],
)
def test_a_name_goes_to_the_files(folder: str, joined: str) -> None:
    assert join(folder, "a.tar") == joined
    assert is_url(folder) is ("::" in folder or "://" in folder)


@pytest.mark.parametrize(
    "secret",
    [
        "https://me:pa55word@host/set/shards.json",
        "https://host/set?X-Amz-Signature=pa55word&X=1",
        "https://me:pa55word@host/set?sig=pa55word",
        "simplecache::https://me:pa55word@host/a?sig=pa55word",
        "zip://in::ftp://me:pa55word@host/x.zip",
        "no answer from 'https://host/set?sig=pa55word' at all; https://u:pa55word@other/",
    ],
)
def test_no_secret_is_shown(secret: str) -> None:
    text = shown(secret)
    assert "pa55word" not in text
    assert "host" in text
    assert shown(text) == text


def test_what_holds_no_secret_is_shown_as_it_is() -> None:
    for plain in ("/data/a?b", "s3://bucket/a", "user@host:/x", "what? nothing"):
        assert shown(plain) == plain
