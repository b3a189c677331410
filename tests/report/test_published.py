import pytest

from floorbench.errors import UsageError
from floorbench.report import published


@pytest.mark.parametrize("table", published.TABLES, ids=lambda t: t.id)
def test_every_table_reads_and_has_a_source(table: published.PublishedTable) -> None:
    rows = list(published.rows(table.id))
    assert rows
    assert all(None not in r and None not in r.values() for r in rows)
    assert table.source


def test_sizes_of_the_benchmarks_add_up() -> None:
    taxonomy = list(published.rows("codett-1"))
    assert len(taxonomy) == 14
    assert sum(int(r["real"]) + int(r["synthetic"]) for r in taxonomy) == 18_000
    echo = list(published.rows("echo-1"))
    assert sum(int(r["groups"]) for r in echo) == 266
    assert sum(int(r["samples"]) for r in echo) == 549
    for contrast in ("pairs_ib", "pairs_io", "pairs_bo"):
        assert sum(int(r[contrast]) for r in echo) == 100


def test_a_misspelt_table_gets_a_suggestion() -> None:
    with pytest.raises(UsageError, match="did you mean 'codett-2'"):
        published.table("codet-2")


def test_an_empty_cell_is_no_number() -> None:
    assert published.number("") is None
    assert published.number("1.5") == 1.5
