from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from floorbench.errors import UsageError
from floorbench.web.posts import LONGEST, number, numbers, post_routes, text


def test_a_mapping_is_answered_and_nothing_else() -> None:
    page = TestClient(Starlette(routes=post_routes({"echo": dict})))
    headers = {"x-floorbench": "1"}
    assert page.post("/api/echo", json={"a": 1}, headers=headers).json() == {"a": 1}
    for body in ([1], "a", 2):
        refused = page.post("/api/echo", json=body, headers=headers)
        assert (refused.status_code, refused.json()["code"]) == (404, "FB805")
    assert page.get("/api/echo").status_code == 405


def test_values_are_read_by_name() -> None:
    asked = {"name": "p01", "at": 2, "beats": [1, 2.5]}
    assert (text(asked, "name"), number(asked, "at"), numbers(asked, "beats")) == (
        "p01", 2.0, (1.0, 2.5),
    )  # fmt: skip


@pytest.mark.parametrize("value", [None, 1, ["a"], True])
def test_what_is_no_text(value: Any) -> None:
    with pytest.raises(UsageError, match="FB805 'x' is missing"):
        text({"x": value}, "x")


@pytest.mark.parametrize("value", [None, "1", True, 1e13, float("inf"), float("nan"), [1]])
def test_what_is_no_number(value: Any) -> None:
    with pytest.raises(UsageError, match="FB805 'x' is not a number"):
        number({"x": value}, "x")


@pytest.mark.parametrize("value", [None, 1, [0] * (LONGEST + 1), ["1"]])
def test_what_is_no_list_of_numbers(value: Any) -> None:
    with pytest.raises(UsageError, match="FB805"):
        numbers({"x": value}, "x")
