"""Files that lie under right checksums are refused by name or read, in bounded time and memory."""

from __future__ import annotations

from contextlib import suppress
from random import Random

from hypothesis import note

from keyfold.errors import KeyfoldError
from keyfold.format.footer import Footer
from keyfold.format.names import parse_name
from keyfold.format.reader import read_footer
from keyfold.format.source import BytesSource
from kit.golden.files import GOLDEN
from kit.state_files import entries, groups, read_columns
from kit.taken_apart import taken_apart
from python.tests.fuzz.fuzzing import bounded, fuzz
from python.tests.fuzz.lies import harmless, lie

FOLDER = GOLDEN / "valid"
FILES = {
    str(it.relative_to(FOLDER)): it.read_bytes()
    for it in sorted(FOLDER.rglob("*"))
    if parse_name(it.name)
}
PARTS = {name: taken_apart(content) for name, content in FILES.items()}


def held(name: str, content: bytes) -> object:
    """All that a file holds, but for the stored bytes of blocks."""
    footer, blocks = read_columns(BytesSource(name, content))
    return _said(footer), [list(entries(it)) for it in blocks]


def _said(footer: Footer) -> object:
    return (
        footer.identity, footer.lineage, footer.families, footer.dropped, groups(footer),
        footer.plan, footer.parts, footer.head, footer.continued, footer.base,
    )  # fmt: skip


def test_parts_make_the_file() -> None:
    for name, content in FILES.items():
        assert held(name, PARTS[name].together()) == held(name, content)


def test_what_changes_nothing_is_read_as_before() -> None:
    def case(random: Random) -> None:
        name = random.choice(list(FILES))
        what, content = harmless(random, PARTS[name])
        assert held(name, content) == held(name, FILES[name]), what

    fuzz(100, case)


def test_a_file_that_lies_is_refused_or_read() -> None:
    def case(random: Random) -> None:
        name = random.choice(list(FILES))
        what, content = lie(random, PARTS[name])
        note(f"{name}: {what}")
        source = BytesSource(name, content)
        with bounded(2, 64):
            with suppress(KeyfoldError):
                read_footer(source)
            with suppress(KeyfoldError):
                for columns in read_columns(source)[1]:
                    columns.entry_bytes()
                    list(entries(columns))

    fuzz(1000, case)
