from floorbench.report.render import tables
from support.results import toy_result


def test_a_task_has_its_own_tables_and_every_cell_the_plain_one() -> None:
    assert [t.head for t in tables([toy_result()])] == ["system", "system"]
    (plain,) = tables([toy_result()], every=True)
    assert plain.head == "metric"
