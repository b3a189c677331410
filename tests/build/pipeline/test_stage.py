from floorbench.build.pipeline.stage import Item, Made, made


def test_an_item_gets_more_without_changing() -> None:
    first = Item(id="a", fields={"x": 1}, audio={"t": "1"})
    second = first.having(x=2, y=3, audio={"u": "2"})
    assert first == Item(id="a", fields={"x": 1}, audio={"t": "1"})
    assert second == Item(id="a", fields={"x": 2, "y": 3}, audio={"t": "1", "u": "2"})
    assert made(second) == Made(items=(second,))
