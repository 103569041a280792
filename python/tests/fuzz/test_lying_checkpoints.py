"""Checkpoints of which a file lies, whosever: what can be asked of them ends in a named error, or
in text and HTML that are nothing but that; in bounded time and memory."""

from __future__ import annotations

import json
import os
import shutil
import struct
import tempfile
from collections.abc import Callable
from contextlib import suppress
from html.parser import HTMLParser
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import note

import keyfold
from keyfold.checkpoint import Checkpoint
from keyfold.cli.main import cli
from keyfold.errors import KeyfoldError
from kit.fake_checkpoint import FakeCheckpoint
from kit.state_writer import StateWriter
from kit.taken_apart import taken_apart
from python.tests.fuzz import bad_json
from python.tests.fuzz.fuzzing import bounded, fuzz
from python.tests.fuzz.lies import TEXTS, edited, lie

STATE = {".delta", ".snapshot", ".ref", ".merged"}
COMMANDS = ["describe", "doctor", "fsck", "fsck --deep", *(
    f"inspect {it}" for it in ("partitions", "files", "groups", "column-families", "skew",
                               "batches", "operators", "deltas", "snapshots", "merged-deltas",
                               "references")
), "scan 0", 'get 0 {"id":1}', 'history 0 {"id":1}', "diff 0 0"]  # fmt: skip


def written(root: Path, *, ids: bool, multi: bool) -> dict[str, bytes]:
    """The files of a query of five batches, by path."""
    writer = StateWriter(FakeCheckpoint(root), ids=ids, multi=multi)
    many = [1, 2] if multi else 1
    for batch in range(5):
        changes: dict[int, Any] = dict.fromkeys(range(batch, batch + 6), many)
        changes[batch] = None if batch else many
        if multi and batch:
            changes[batch + 2] = ("append", [3])
        writer.batch(changes, snapshots=batch == 2)
        if ids and batch == 4:
            writer.merge(3, 0)
            writer.merge(4, 1, named=False)
    writer.fake.operator_v2(0, 1)
    variables = [{"stateName": "count", "stateVariableType": "ValueState"}]
    metadata = json.loads((root / "state/1/_metadata/v2/0").read_text().split("\n", 1)[1])
    metadata["operatorPropertiesJson"] = json.dumps({"stateVariables": variables})
    store = metadata["stateStoreInfo"][0]
    store["stateSchemaFilePaths"] = ["/elsewhere/state/1/_stateSchema/default/0_a"]
    writer.fake.write("state/1/_metadata/v2/0", "v2\n" + json.dumps(metadata))
    text = _struct_text(("id", "long"), ("name", "string"), ("list", "list"))
    family = (
        b"\0\5count"
        + b"".join(part for _ in range(2) for part in (b"\0\0", _chunk(text)))
        + _chunk(b'{"keyStateEncoderType":"NoPrefixKeyStateEncoderSpec"}')
        + _chunk(b"{}")
    )
    schema = b"\0\2v3" + struct.pack(">i", 1) + family
    writer.fake.write("state/1/_stateSchema/default/0_a", schema)
    return {
        str(it.relative_to(root)): it.read_bytes() for it in sorted(root.rglob("*")) if it.is_file()
    }


def _chunk(text: bytes) -> bytes:
    return struct.pack(">iH", 1, len(text)) + text


def _struct_text(*columns: tuple[str, str]) -> bytes:
    element = {"type": "array", "elementType": "long", "containsNull": True}
    fields = [
        {
            "name": name,
            "type": element if kind == "list" else kind,
            "nullable": True,
            "metadata": {},
        }
        for name, kind in columns
    ]
    return json.dumps({"type": "struct", "fields": fields}).encode()


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, bytes]]:
    return [
        written(tmp_path_factory.mktemp("cp"), ids=ids, multi=multi)
        for ids, multi in ((True, False), (False, True))
    ]


def test_a_checkpoint_that_lies_is_refused_or_read(originals: list[dict[str, bytes]]) -> None:
    def case(random: Random) -> None:
        files = random.choice(originals)
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder) / "cp"
            for path, content in files.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_bytes(content)
            path = random.choice(sorted(files))
            note(f"{path}: {changed(random, root, path)}")
            question = random.choice(QUESTIONS)
            with bounded(10, 200, threads=64):
                look(root, question)

    fuzz(60, case)


def changed(random: Random, root: Path, path: str) -> str:
    """Changes a file, or its name; says how."""
    file = root / path
    content = file.read_bytes()
    if random.randrange(12) == 0:
        return _renamed(random, file)
    if file.suffix in STATE:
        what, content = lie(random, taken_apart(content))
    elif "schema" in path.lower():
        what, content = _of_schema(random, content)
    elif random.randrange(5) == 0:
        what, content = edited(random, content)
    else:
        head, brace, rest = content.decode().partition("{")
        line, *more = (brace + rest).split("\n")
        what, line = bad_json.changed(random, line)
        content = "\n".join([head + line, *more]).encode(errors="surrogatepass")
    file.write_bytes(content)
    return what


def _of_schema(random: Random, content: bytes) -> tuple[str, bytes]:
    at = content.find(b'{"type": "struct"')
    if at < 0 or random.randrange(5) == 0:
        return edited(random, content)
    size = int.from_bytes(content[at - 2 : at], "big")
    what, text = bad_json.changed(random, content[at : at + size].decode())
    new = text.encode()
    chunks = [new[i : i + 60000] for i in range(0, len(new), 60000)] or [b""]
    out = struct.pack(">i", len(chunks))
    out += b"".join(struct.pack(">H", len(it)) + it for it in chunks)
    return what, content[: at - 6] + out + content[at + size :]


def _renamed(random: Random, file: Path) -> str:
    names = [
        *(
            "9" * 18,
            "9" * 19,
            "9" * 200,
            "0",
            "00",
            "-1",
            "1.delta",
            "5_.delta",
            "<img src=x>.delta",
        ),
        *(
            "9" * 30 + ".delta",
            "3_\x1b[2J.delta",
            "[/red].delta",
            "x",
            "٣",
            "²",
            "3_a b\n.snapshot",
            "5_a.9.merged",
            "5_a.4.merged",
            "5.4.merged",
        ),
        *("9223372036854775807.delta", "9223372036854775808.snapshot", "_metadata", "SSTs"),
    ]
    name: Any = random.choice([*names, b"\xff\xfe.delta", b"7\xff"])
    target = os.fsencode(file.parent) + b"/" + (name if isinstance(name, bytes) else name.encode())
    with suppress(OSError):
        if random.randrange(2):
            file.rename(os.fsdecode(target))
        else:
            shutil.copy(file, os.fsdecode(target))
    return f"name {name!r}"


def look(root: Path, question: Callable[[Checkpoint], None] | str) -> None:
    """Asks something that takes no Spark."""
    if isinstance(question, str):
        _commanded(root, question)
        return
    try:
        opened = keyfold.open_checkpoint(root)
    except KeyfoldError as error:
        _shown(str(error))
        return
    _asked(lambda: question(opened))


def _commanded(root: Path, command: str) -> None:
    verb, *more = command.split(" ", 2)
    for form in ("text", "json"):
        arguments = [verb, str(root), *more, "-o", form]
        done = CliRunner().invoke(cli, arguments)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        _shown(done.output)


def _reported(it: Checkpoint) -> None:
    page = Path(it.path).parent / "page.html"
    it.report(page)
    _is_clean(page.read_text(encoding="utf-8"))


def _asked(question: Callable[[], None]) -> None:
    try:
        question()
    except KeyfoldError as error:
        _shown(str(error))


def _described(it: Checkpoint) -> None:
    found = it.describe()
    _shown(str(found))
    json.dumps(found.to_dict())
    _is_clean(found._repr_html_())


def _inspected(it: Checkpoint) -> None:
    look = it.inspect
    for question in (it.batches, look.partitions, look.files, look.snapshots, look.deltas,
                     look.merged_deltas, look.references, look.groups,
                     look.column_families):  # fmt: skip
        _asked(lambda ask=question: ask().to_pylist())
    _asked(lambda: _is_clean(look.skew()._repr_html_()))


def _doctored(it: Checkpoint) -> None:
    found = it.doctor(cores=2, memory_bytes=1)
    _shown(str(found))
    json.dumps(found.to_dict())
    _is_clean(found._repr_html_())


def _checked(it: Checkpoint) -> None:
    found = it.fsck(deep=True)
    _shown(str(found))
    _is_clean(found._repr_html_())
    found.to_arrow()


def _scanned(it: Checkpoint) -> None:
    for operator in it.operators:
        _asked(lambda op=operator: _tables(op))


def _tables(operator: Any) -> None:
    for table in operator.tables.values():
        _asked(lambda it=table: _is_clean(it.scan()._repr_html_()))
        _asked(lambda it=table: it.scan().to_arrow().validate(full=True))
        _asked(lambda it=table: it.get({"id": 1}))
        _asked(lambda it=table: it.history({"id": 1}))


QUESTIONS = [
    *[_described, _doctored, _checked, _scanned] * 8,
    *[_inspected] * 4,
    *COMMANDS,
    _reported,
]


def _shown(text: str) -> None:
    """What goes to a terminal has nothing in it that controls it."""
    text.encode()
    bad = [it for it in text if it != "\n" and not it.isprintable() and it not in "\xa0\xad"]
    assert not bad, f"{bad!r} in {text!r}"


class _Tags(HTMLParser):
    def handle_starttag(self, tag: str, attrs: Any) -> None:
        assert tag not in {"script", "img"}, tag
        assert not any(name.startswith("on") for name, _ in attrs), attrs


def _is_clean(html: str) -> None:
    """No name has become an element."""
    html.encode()
    _Tags().feed(html)


def test_the_texts_are_nasty() -> None:
    with pytest.raises(AssertionError):
        _is_clean("".join(TEXTS))
    with pytest.raises(AssertionError):
        _shown("\x1b[2J")
