"""Rows in Avro to Arrow columns, with a loop over rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from io import BytesIO
from typing import Any

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]

from keyfold.errors import ExtraMissingError
from keyfold.rows.keys import columns_ahead
from keyfold.rows.places import Ints, Octets, Places, read
from keyfold.schema.arrow_type import arrow_type
from keyfold.schema.avro_schema import avro_schema, range_schema
from keyfold.schema.data_type import Struct
from keyfold.wire.cursor import MalformedError

_VERSION_BYTES = 1
_ID_BYTES = 2
_TIMESTAMP_BYTES = 8


@dataclass(frozen=True)
class AvroRows:
    """Decodes rows; `written` has the schema of each id, `shown` is the schema of the result."""

    written: Mapping[int, Struct]
    shown: Struct

    def values(self, data: Octets, rows: Places, sizes: Ints) -> pa.Array:
        """A column of structs; raises MalformedError, or ExtraMissingError without fastavro."""
        reader = _Reader()
        found = [
            reader.with_id(part, 0, len(part), self.written) for part in _parts(data, rows, sizes)
        ]
        return pa.array(found, arrow_type(self.shown))

    def keys(self, data: Octets, rows: Places, sizes: Ints, encoding: str) -> pa.Array:
        """A column of structs of keys; raises as `values` does."""
        reader = _Reader()
        split = _split(encoding, self.shown)
        found = [
            split(reader, part, self.written, self.shown) for part in _parts(data, rows, sizes)
        ]
        return pa.array(found, arrow_type(self.shown))


class _Reader:
    """Reads Avro records; a schema is prepared once."""

    def __init__(self) -> None:
        try:
            self._avro: Any = import_module("fastavro")
        except ImportError as error:
            raise ExtraMissingError(
                "This state is encoded as Avro, and reading Avro needs another package. Install it "
                "with `pip install 'keyfold[avro]'`."
            ) from error
        self._prepared: dict[Struct, Any] = {}
        self._ranges: dict[Struct, Any] = {}

    def with_id(
        self, part: bytes, start: int, end: int, written: Mapping[int, Struct]
    ) -> dict[str, Any]:
        """A record behind a version byte and the id of its schema."""
        at = start + _VERSION_BYTES
        number = int.from_bytes(part[at : at + _ID_BYTES], "little", signed=True)
        if number not in written:
            raise MalformedError(f"a row is of schema {number}, which no schema file has")
        return self.record(part[at + _ID_BYTES : end], written[number])

    def record(self, content: bytes, it: Struct) -> dict[str, Any]:
        """A record."""
        schema = self._prepared.get(it)
        if schema is None:
            schema = self._prepared[it] = self._avro.parse_schema(avro_schema(it))
        return self._read(content, schema)

    def ordered(self, content: bytes, it: Struct) -> dict[str, Any]:
        """The ordering columns of a range key, from a record with marker and value of each."""
        schema = self._ranges.get(it)
        if schema is None:
            schema = self._ranges[it] = self._avro.parse_schema(range_schema(it))
        found = list(self._read(content, schema).values())
        return {
            field.name: _ordered(found[2 * index], found[2 * index + 1], str(field.type.name))  # type: ignore[union-attr]
            for index, field in enumerate(it.fields)
        }

    def _read(self, content: bytes, schema: Any) -> dict[str, Any]:  # noqa: ANN401
        try:
            found: dict[str, Any] = self._avro.schemaless_reader(BytesIO(content), schema, None)
        except (EOFError, IndexError, ValueError) as error:
            raise MalformedError(f"a row is not Avro of its schema: {error!r}") from error
        return found


_Split = Callable[[_Reader, bytes, Mapping[int, Struct], Struct], dict[str, Any]]


def _split(encoding: str, shown: Struct) -> _Split:
    if encoding == "row":
        return lambda reader, part, written, _: reader.with_id(part, 0, len(part), written)
    if encoding in {"timestampPrefix", "timestampPostfix"}:
        ahead = encoding == "timestampPrefix"
        return lambda reader, part, written, it: _timestamped(reader, part, written, it, ahead)
    places, is_range = columns_ahead(encoding, shown), encoding.startswith("range:")

    def in_two(
        reader: _Reader, part: bytes, written: Mapping[int, Struct], it: Struct
    ) -> dict[str, Any]:
        first = it.take(places)
        rest = it.take([index for index in range(len(it.fields)) if index not in places])
        end = 4 + int.from_bytes(part[:4], "little")
        head = part[4 + _VERSION_BYTES : end]
        found = reader.ordered(head, first) if is_range else reader.record(head, first)
        if rest.fields:
            found = found | reader.with_id(
                part,
                end,
                len(part),
                {number: rest for number in written},  # noqa: C420
            )
        return found

    return in_two


def _timestamped(
    reader: _Reader,
    part: bytes,
    written: Mapping[int, Struct],
    it: Struct,
    ahead: bool,  # noqa: FBT001 - which of the two encodings it is
) -> dict[str, Any]:
    at = 0 if ahead else len(part) - _TIMESTAMP_BYTES
    start, end = (_TIMESTAMP_BYTES, len(part)) if ahead else (0, at)
    turned = int.from_bytes(part[at : at + _TIMESTAMP_BYTES], "big") ^ 1 << 63
    value = turned - (1 << 64 if turned >> 63 else 0)
    rest = it.take(range(len(it.fields) - 1))
    found = reader.with_id(part, start, end, {number: rest for number in written})  # noqa: C420
    return found | {it.names[-1]: value}


def _ordered(marker: bytes, value: bytes, name: str) -> Any:  # noqa: ANN401
    if marker == b"\x02":
        return None
    if name in {"float", "double"}:
        bits = bytes(255 - it for it in value) if marker == b"\x00" else value
        return float(np.frombuffer(bits, ">f4" if name == "float" else ">f8")[0])
    number = int.from_bytes(value, "big", signed=True)
    return bool(number) if name == "boolean" else number


def _parts(data: Octets, rows: Places, sizes: Ints) -> list[bytes]:
    if rows.count:
        read(data, Places.of(rows.offsets() + sizes - 1), "u1")
    content = data.tobytes()
    return [
        content[start : start + size]
        for start, size in zip(rows.offsets().tolist(), sizes.tolist(), strict=True)
    ]
