import pytest

from floorbench.errors import DataError
from floorbench.formats.source import Source
from floorbench.formats.xmltree import parse_xml

LAUGHS = (
    '<?xml version="1.0"?>\n<!DOCTYPE lolz [\n<!ENTITY lol "lol">\n'
    + "".join(f'<!ENTITY lol{n} "{f"&lol{n - 1};" * 10}">\n' for n in range(1, 10)).replace(
        "&lol0;", "&lol;"
    )
    + "]>\n<ANNOTATION_DOCUMENT>&lol9;</ANNOTATION_DOCUMENT>"
)


def source(text):
    return Source(name="x.eaf", data=text if isinstance(text, bytes) else text.encode())


@pytest.mark.parametrize(
    "text",
    [
        LAUGHS,
        '<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]><a>&e;</a>',
        '<!DOCTYPE a SYSTEM "http://127.0.0.1:9/a.dtd"><a/>',
        '<!DOCTYPE a [<!ENTITY % p SYSTEM "file:///etc/passwd"> %p;]><a/>',
        "<!DOCTYPE a><a/>",
    ],
)
def test_document_types_and_entities_are_refused(text):
    with pytest.raises(DataError) as caught:
        parse_xml(source(text))
    assert caught.value.code == "FB706"


def test_undeclared_entities_and_deep_nesting_are_refused():
    with pytest.raises(DataError, match="undefined entity"):
        parse_xml(source("<a>&e;</a>"))
    with pytest.raises(DataError) as caught:
        parse_xml(source("<a>" * 100_000))
    assert caught.value.code == "FB705"


def test_tree_keeps_lines_text_and_attributes():
    root = parse_xml(source('<a x="1">\n<b>t&amp;\n</b><b/></a>'))
    assert (root.tag, root.get("x"), root.get("y"), root.line) == ("a", "1", None, 1)
    assert [(n.line, n.text) for n in root.all("b")] == [(2, "t&\n"), (3, "")]


def test_encodings_by_mark_and_declaration():
    assert parse_xml(source("<a>é</a>".encode("utf-16"))).text == "é"
    latin = '<?xml version="1.0" encoding="ISO-8859-1"?><a>é</a>'.encode("latin-1")
    assert parse_xml(source(latin)).text == "é"
