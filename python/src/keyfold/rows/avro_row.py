"""Rows in Avro to Arrow columns, with a loop over rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from io import BytesIO
from typing import Any

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]

from keyfold.errors import ExtraMissingError
from keyfold.rows.keys import columns_ahead
from keyfold.schema.arrow_type import arrow_type, avro_schema, range_schema
from keyfold.schema.data_type import Struct
from keyfold.wire.cursor import MalformedError

_VERSION_BYTES = 1
_ID_BYTES = 2
_TIMESTAMP_BYTES = 8

_Decode = Callable[[bytes], dict[str, Any]]


def avro_column(
    stored: pa.Array, written: Mapping[int, Struct], shown: Struct, encoding: str = "row"
) -> pa.Array:
    """A column of structs, of values or of keys in an encoding.

    Args:
        stored: the rows' bytes.
        written: the schema of each id.
        shown: the schema of the result.
        encoding: of keys.

    Raises:
        MalformedError: the bytes are no such rows.
        ExtraMissingError: fastavro is not installed.
    """
    _fastavro()
    decode = _decoder(encoding, written, shown)
    return pa.array([decode(it) for it in stored.to_pylist()], arrow_type(shown))


def _decoder(encoding: str, written: Mapping[int, Struct], shown: Struct) -> _Decode:
    if encoding == "row":
        return lambda stored: _with_id(stored, written)
    ahead = columns_ahead(encoding, shown)
    if not ahead:
        without_time = shown.take(range(len(shown.fields) - 1))
        return lambda stored: _timestamped(
            stored,
            dict.fromkeys(written, without_time),
            shown.names[-1],
            ahead=encoding == "timestampPrefix",
        )
    first = shown.take(ahead)
    rest = shown.take([index for index in range(len(shown.fields)) if index not in ahead])
    decode_first = _ordered_columns if encoding.startswith("range:") else _record

    def in_two(stored: bytes) -> dict[str, Any]:
        end = 4 + int.from_bytes(stored[:4], "little")
        columns = decode_first(stored[4 + _VERSION_BYTES : end], first)
        if rest.fields:
            columns |= _with_id(stored[end:], dict.fromkeys(written, rest))
        return columns

    return in_two


def _with_id(stored: bytes, written: Mapping[int, Struct]) -> dict[str, Any]:
    """A record behind a version byte and the id of its schema."""
    begin = _VERSION_BYTES + _ID_BYTES
    number = int.from_bytes(stored[_VERSION_BYTES:begin], "little", signed=True)
    if number not in written:
        raise MalformedError(f"a row is of schema {number}, which no schema file has")
    return _record(stored[begin:], written[number])


def _timestamped(
    stored: bytes, others: Mapping[int, Struct], name: str, *, ahead: bool
) -> dict[str, Any]:
    at = _TIMESTAMP_BYTES if ahead else len(stored) - _TIMESTAMP_BYTES
    time, record = (stored[:at], stored[at:]) if ahead else (stored[at:], stored[:at])
    turned = int.from_bytes(time, "big") ^ 1 << 63
    return _with_id(record, others) | {name: turned - (1 << 64 if turned >> 63 else 0)}


def _record(content: bytes, struct: Struct) -> dict[str, Any]:
    return _read(content, _parsed(avro_schema, struct))


def _ordered_columns(content: bytes, struct: Struct) -> dict[str, Any]:
    """The ordering columns of a range key, from a record with marker and value of each."""
    parts = list(_read(content, _parsed(range_schema, struct)).values())
    return {
        field.name: _ordered(parts[2 * index], parts[2 * index + 1], str(field.type.name))  # type: ignore[union-attr]
        for index, field in enumerate(struct.fields)
    }


def _ordered(marker: bytes, value: bytes, name: str) -> Any:  # noqa: ANN401
    if marker == b"\x02":
        return None
    if name in {"float", "double"}:
        bits = bytes(255 - it for it in value) if marker == b"\x00" else value
        return float(np.frombuffer(bits, ">f4" if name == "float" else ">f8")[0])
    number = int.from_bytes(value, "big", signed=True)
    return bool(number) if name == "boolean" else number


def _read(content: bytes, schema: Any) -> dict[str, Any]:  # noqa: ANN401
    try:
        record: dict[str, Any] = _fastavro().schemaless_reader(BytesIO(content), schema, None)
    except (EOFError, IndexError, ValueError) as error:
        raise MalformedError(f"a row is not Avro of its schema: {error!r}") from error
    return record


@cache
def _parsed(schema_of: Callable[[Struct], dict[str, Any]], struct: Struct) -> Any:  # noqa: ANN401
    return _fastavro().parse_schema(schema_of(struct))


def _fastavro() -> Any:  # noqa: ANN401 - an optional package
    try:
        return import_module("fastavro")
    except ImportError as error:
        raise ExtraMissingError(
            "This state is encoded as Avro, and reading Avro needs another package. Install it "
            "with `pip install 'keyfold[avro]'`."
        ) from error
