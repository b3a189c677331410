"""A small, safe XML tree with line numbers: no document types, no entities, bounded depth.

The parser of the standard library expands entities that a document declares; annotation files
declare none, so a file with a DOCTYPE is refused as a whole before anything is expanded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from floorbench.formats.source import Source

MAX_DEPTH = 64


@dataclass(slots=True)
class Node:
    """One element."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: list[Node] = field(default_factory=list)
    text: str = ""

    def all(self, tag: str) -> Iterator[Node]:
        """Yield the direct children of that tag."""
        return (child for child in self.children if child.tag == tag)

    def get(self, name: str) -> str | None:
        """Return an attribute."""
        return self.attributes.get(name)


def parse_xml(source: Source) -> Node:
    """Parse the file.

    Raises
    ------
    DataError
        ``FB703`` for text that is not well-formed XML, ``FB705`` for elements nested deeper than
        64, ``FB706`` for a document type or an entity declaration.
    """
    parser = expat.ParserCreate()
    parser.buffer_text = True
    top = Node("", {}, 0)
    open_nodes = [top]

    def start(tag: str, attributes: dict[str, str]) -> None:
        if len(open_nodes) > MAX_DEPTH:
            source.fail(
                "FB705", f"elements nested deeper than {MAX_DEPTH}", parser.CurrentLineNumber
            )
        node = Node(tag, attributes, parser.CurrentLineNumber)
        open_nodes[-1].children.append(node)
        open_nodes.append(node)

    def end(_tag: str) -> None:
        open_nodes.pop()

    def data(text: str) -> None:
        open_nodes[-1].text += text

    def refuse(*_: object) -> None:
        source.fail("FB706", "a document type or entity is declared", parser.CurrentLineNumber)

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = data
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(source.data, True)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        source.fail("FB703", f"not well-formed XML: {reason}", error.lineno)
    except (LookupError, ValueError) as error:
        source.fail("FB702", f"the declared encoding cannot be read: {error}")
    return top.children[0]
