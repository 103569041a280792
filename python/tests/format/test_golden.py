"""The reader against files it has no part in writing."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from keyfold.errors import KeyfoldError
from keyfold.format.footer import Family, Footer, Part, Reference
from keyfold.format.manifest import Layer, read_layer
from keyfold.format.names import StoreLocation, Version, written
from keyfold.format.reader import read_footer
from keyfold.format.source import BytesSource
from keyfold.state.entries import Rows
from keyfold.state.store_files import list_store
from keyfold.state.version import load
from keyfold.storage.storage import Storage
from keyfold.wire.codec import Codec
from kit.golden.files import GOLDEN, write
from kit.golden.spec import bigint
from kit.state_files import Entry, entries, groups, read_columns, read_entries

EXPECTED = json.loads((GOLDEN / "expected.json").read_text(encoding="utf-8"))
VALID = {it["file"]: it for it in EXPECTED["valid"]}
BROKEN = {it["file"]: it for it in EXPECTED["broken"]}
# Bytes of a Zstandard frame depend on the version of its library.
UNSTABLE = "valid/snapshot-zstd/7.snapshot"

KIND_NAMES = {1: "delta", 2: "snapshot", 3: "reference", 5: "merged"}


def source(file: str) -> BytesSource:
    return BytesSource(file, (GOLDEN / file).read_bytes())


@pytest.mark.parametrize("file", VALID)
def test_footer_is_as_expected(file: str) -> None:
    footer = read_footer(source(file))
    assert described(footer) == {key: VALID[file][key] for key in described(footer)}


@pytest.mark.parametrize("file", VALID)
def test_entries_are_as_expected(file: str) -> None:
    footer, blocks = read_columns(source(file))
    expected = VALID[file]["blocks"]
    assert [(b.family, b.codec.name.lower()) for b in footer.blocks] == [
        (b["family"], b["codec"]) for b in expected
    ]
    names = [family["name"] for family in VALID[file]["families"]]
    assert [[entry(it) for it in entries(block)] for block in blocks] == [
        [
            {key: value for key, value in it.items() if key != "checksum"}
            | {"family": names[b["family"]]}
            for it in b["entries"]
        ]
        for b in expected
    ]


@pytest.mark.parametrize("file", BROKEN)
def test_broken_file_is_refused(file: str) -> None:
    with pytest.raises(KeyfoldError) as caught:
        read_entries(source(file))
    assert caught.value.condition == BROKEN[file]["condition"]
    assert file in str(caught.value)


@pytest.mark.parametrize("file", [it for it in BROKEN if BROKEN[it]["found"] == "footer"])
def test_broken_file_is_refused_by_its_footer_alone(file: str) -> None:
    with pytest.raises(KeyfoldError) as caught:
        read_footer(source(file))
    assert caught.value.condition == BROKEN[file]["condition"]


def test_manifest_is_as_expected() -> None:
    manifest = EXPECTED["manifests"]["valid"]
    for it in manifest["parts"]:
        assert layer(read_layer(source(manifest["file"]), part(it["place"]))) == it["layer"]


@pytest.mark.parametrize("it", EXPECTED["manifests"]["broken"], ids=lambda it: it["why"])
def test_broken_manifest_is_refused(it: dict[str, Any]) -> None:
    with pytest.raises(KeyfoldError) as caught:
        read_layer(source(it["file"]), part(it["place"]))
    assert caught.value.condition == it["condition"]
    assert it["file"] in str(caught.value)


def test_script_makes_the_committed_files(tmp_path: Path) -> None:
    write(tmp_path)
    made = {str(it.relative_to(tmp_path)): it for it in tmp_path.rglob("*") if it.is_file()}
    kept = {
        str(it.relative_to(GOLDEN))
        for folder in ("valid", "broken")
        for it in (GOLDEN / folder).rglob("*")
        if it.is_file()
    }
    assert made.keys() == kept | {"expected.json"}
    for name, path in made.items():
        if name == UNSTABLE:
            footer = read_footer(BytesSource(name, path.read_bytes()))
            old_footer = read_footer(source(name))
            assert described(footer) == described(old_footer)
            assert read_entries(BytesSource(name, path.read_bytes())) == read_entries(source(name))
        else:
            assert path.read_bytes() == (GOLDEN / name).read_bytes(), name


@pytest.mark.parametrize(
    "store", EXPECTED["stores"], ids=lambda it: f"{it['folder']}-{it['version']}"
)
def test_store_gives_the_rows_of_a_version(store: dict[str, Any]) -> None:
    storage = Storage(GOLDEN / store["folder"])
    version = written(store["version"], store["id"])
    assert version is not None
    found = load(list_store(storage, StoreLocation(0, 3, "default"), version.number), version)
    assert {name: hexes(found.rows(name)) for name in found.families} == store["families"]
    for name, family in found.families.items():
        rows = found.rows(name)
        counted = (rows.count, int(rows.counts().sum()), int(rows.bytes().sum()))
        assert (family.keys, family.values, family.bytes) == counted


def hexes(rows: Rows) -> dict[str, list[str]]:
    return {
        key.hex(): [value.hex() for value in values]
        for key, values in zip(rows.keys.to_pylist(), rows.values.to_pylist(), strict=True)
    }


def described(footer: Footer) -> dict[str, Any]:
    """A footer in the words of expected.json."""
    found: dict[str, Any] = {
        "kind": KIND_NAMES[footer.frame.kind],
        "rowChecksums": footer.frame.row_checksums,
        "footerCodec": footer.frame.footer_codec.name.lower(),
        "identity": camel(asdict(footer.identity)),
        "lineage": [with_kind(asdict(link)) for link in footer.lineage],
        "families": [described_family(family) for family in footer.families],
        "dropped": list(footer.dropped),
        "groups": groups(footer),
        "references": None,
        "head": None if footer.head is None else asdict(footer.head),
        "continued": footer.continued,
        "base": footer.base,
    }
    if footer.parts:
        parts = [place(it) for it in footer.parts]
        found["references"] = {"plan": footer.plan, "parts": parts}
    return found


def place(it: Part) -> dict[str, Any]:
    return camel(asdict(it)) | {"codec": it.codec.name.lower()}


def layer(it: Layer) -> dict[str, Any]:
    members = [
        camel(asdict(each)) | {"files": list(map(referenced, each.files))} for each in it.members
    ]
    return {"partitions": it.partitions, "members": members}


def referenced(it: Reference) -> dict[str, Any]:
    return {"path": it.path, **with_kind(camel(asdict(it.name))), "length": it.length}


def part(it: dict[str, Any]) -> Part:
    codec = Codec[it["codec"].upper()]
    return Part(it["offset"], codec, it["storedLength"], it["rawLength"], it["checksum"])


def described_family(family: Family) -> dict[str, Any]:
    fields = {key: -1 if value is None else value for key, value in asdict(family).items()}
    return renamed(camel(fields), number="family")


def entry(it: Entry) -> dict[str, Any]:
    return {
        "type": it.type.name,
        "hash": it.hash,
        "key": it.key.hex(),
        "values": [value.hex() for value in it.values],
        "family": it.family,
    }


def camel(fields: dict[str, Any]) -> dict[str, Any]:
    words = {key: key.split("_") for key in fields}
    return {
        first + "".join(word.title() for word in rest): fields[key]
        for key, (first, *rest) in words.items()
    }


def renamed(fields: dict[str, Any], **names: str) -> dict[str, Any]:
    return {names.get(key, key): value for key, value in fields.items()}


def with_kind(fields: dict[str, Any]) -> dict[str, Any]:
    given = {key: it for key, it in fields.items() if key != "base" or it is not None}
    return given | {"kind": KIND_NAMES[fields["kind"]]}


def test_dump_in_the_format_page_is_the_golden_file() -> None:
    page = (GOLDEN.parents[1] / "docs" / "FORMAT.md").read_text(encoding="utf-8")
    dump = page.split("## 9. A whole file")[1]
    lines = re.findall(r"(?m)^([0-9a-f]{3})  ((?:[0-9a-f]{2,} ?)+) ", dump)
    content = b""
    for offset, digits in lines:
        assert int(offset, 16) == len(content)
        content += bytes.fromhex(digits.replace(" ", ""))
    assert content == (GOLDEN / "valid" / "first-delta" / "1.delta").read_bytes()


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        (5, {19: [4], 12: [1, "", 2, "00ff", 3], 2: [5]}),
        (6, {19: [4, 6, 7], 2: [8, 9]}),
    ],
)
def test_rows_of_several_entries_are_one_row(
    tmp_path: Path, version: int, expected: dict[int, list[int | str]]
) -> None:
    folder = tmp_path / "state" / "0" / "0"
    folder.mkdir(parents=True)
    for file in ("continued/5.snapshot", "continued-delta/6.delta"):
        shutil.copy(GOLDEN / "valid" / file, folder)
    found = load(
        list_store(Storage(tmp_path), StoreLocation(0, 0, "default"), version), Version(version, "")
    )
    rows = found.rows("list")
    assert hexes(rows) == {
        bigint(key): [it if isinstance(it, str) else bigint(it) for it in its]
        for key, its in expected.items()
    }
    family = found.families["list"]
    said = (family.keys, family.values, family.bytes)
    assert said == (rows.count, int(rows.counts().sum()), int(rows.bytes().sum()))
