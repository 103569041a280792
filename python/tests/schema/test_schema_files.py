"""State schema files of each version, written as Spark's `DataOutputStream` writes them."""

from __future__ import annotations

import json
import struct
from typing import Any

import pytest

from keyfold.schema.data_type import Array, Atomic, Decimal, Map, parse_type
from keyfold.schema.schema_file import read_schema
from keyfold.wire.cursor import MalformedError


def utf(text: str) -> bytes:
    return struct.pack(">H", len(text.encode())) + text.encode()


def chunks(text: str, size: int = 10) -> bytes:
    parts = [text[at : at + size] for at in range(0, len(text), size)]
    return struct.pack(">i", len(parts)) + b"".join(map(utf, parts))


def row(*fields: tuple[str, Any]) -> str:
    listed = [{"name": n, "type": t, "nullable": True, "metadata": {}} for n, t in fields]
    return json.dumps({"type": "struct", "fields": listed})


KEY, VALUE = row(("k", "long")), row(("v", "string"), ("w", "decimal(38,3)"))


def test_versions_1_and_2() -> None:
    one = read_schema(utf("v1") + utf(KEY) + utf(VALUE))
    two = read_schema(utf("v2") + chunks(KEY) + chunks(VALUE))
    assert one == two
    (family,) = two
    assert (family.name, family.key.names, family.value.names) == ("default", ("k",), ("v", "w"))
    assert family.value[1] == Decimal(38, 3)


def test_version_3() -> None:
    encoder = json.dumps({"keyStateEncoderType": "PrefixKeyScanStateEncoderSpec"})

    def family(name: str, key_id: int, value_id: int, user_key: str) -> bytes:
        parts = struct.pack(">h", key_id) + chunks(KEY) + struct.pack(">h", value_id)
        return utf(name) + parts + chunks(VALUE) + chunks(encoder) + chunks(user_key)

    content = utf("v3") + struct.pack(">i", 2)
    content += family("a", 0, 3, "{    }") + family("$b", 1, 0, row(("u", "date")))
    first, second = read_schema(content)
    assert (first.name, first.key_id, first.value_id) == ("a", 0, 3)
    assert (second.name, second.key_id) == ("$b", 1)


@pytest.mark.parametrize(
    "content",
    [
        b"", utf("v9"), utf("v2"), utf("v2") + chunks(KEY), utf("v1") + utf("?") + utf(VALUE),
        utf("v1") + utf(KEY) + utf(VALUE) + b"x", utf("v1") + utf("[]") + utf(VALUE),
        utf("v1") + utf('{"type":"struct"}') + utf(VALUE), b"\x00\x02v\xff",
    ],
)  # fmt: skip
def test_what_is_no_schema_file(content: bytes) -> None:
    with pytest.raises(MalformedError):
        read_schema(content)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("char(3)", Atomic("string")),
        ("string collate UNICODE_CI", Atomic("string")),
        ("interval day to second", Atomic("day_time")),
        ("interval year", Atomic("year_month")),
        ("time(6)", Atomic("time")),
        ({"type": "array", "elementType": "byte", "containsNull": False},
         Array(Atomic("byte"), nullable=False)),
        ({"type": "map", "keyType": "date", "valueType": "void", "valueContainsNull": True},
         Map(Atomic("date"), Atomic("void"), nullable=True)),
        ({"type": "udt", "sqlType": "double"}, Atomic("double")),
    ],
)  # fmt: skip
def test_types(text: Any, expected: object) -> None:
    assert parse_type(text) == expected


@pytest.mark.parametrize("text", ["geometry", 7, {"type": "graph"}, {}, None])
def test_types_that_are_not_known(text: Any) -> None:
    with pytest.raises(MalformedError):
        parse_type(text)


def test_columns_of_one_name_are_numbered() -> None:
    text = row(("count", "long"), ("sum", "long"), ("count", "long"))
    (family,) = read_schema(utf("v1") + utf(KEY) + utf(text))
    assert family.value.names == ("count_0", "sum", "count_1")
