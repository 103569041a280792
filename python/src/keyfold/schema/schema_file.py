"""State schema files of Spark, versions 1 to 3 (SchemaHelper.scala), and an operator's schemas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from keyfold.errors import CheckpointDamagedError
from keyfold.format.names import StoreLocation
from keyfold.schema.data_type import Struct, parse_struct
from keyfold.spark_log.logs import StoreMetadata
from keyfold.storage.storage import Storage
from keyfold.text.json_text import parse_object
from keyfold.wire.cursor import Cursor, MalformedError

DEFAULT_FAMILY = "default"


@dataclass(frozen=True)
class FamilySchema:
    """The schemas of a column family's rows.

    `key_ids` and `value_ids` number the versions of a schema; rows in Avro name them.
    """

    name: str
    key: Struct
    value: Struct
    key_id: int = 0
    value_id: int = 0


def read_schema(content: bytes) -> tuple[FamilySchema, ...]:
    """Parses a schema file; raises MalformedError."""
    source = _Java(content)
    version = source.text()
    match version:
        case "v1":
            found: tuple[FamilySchema, ...] = (_default(source.text(), source.text()),)
        case "v2":
            found = (_default(source.chunks(), source.chunks()),)
        case "v3":
            found = tuple(_family(source) for _ in range(source.i32()))
        case _:
            raise MalformedError(f"it begins with {version[:40]!r}, not with v1, v2 or v3")
    source.end()
    return found


def _default(key: str, value: str) -> FamilySchema:
    return FamilySchema(DEFAULT_FAMILY, _struct(key), _struct(value))


def _family(source: _Java) -> FamilySchema:
    name = source.text()
    key_id, key = source.i16(), _struct(source.chunks())
    value_id, value = source.i16(), _struct(source.chunks())
    # State files name the encoder of a key, and the key's schema has that of a map's key.
    _json(source.chunks())
    _json(source.chunks())
    return FamilySchema(name, key, value, key_id, value_id)


def _struct(text: str) -> Struct:
    return parse_struct(_json(text))


def _json(text: str) -> dict[str, Any]:
    try:
        return parse_object(text)
    except ValueError as error:
        raise MalformedError(f"it has text that is not an object of JSON: {error}") from error


class _Java(Cursor):
    """Reads what `java.io.DataOutput` has written."""

    def __init__(self, content: bytes) -> None:
        super().__init__(content, "it", "big")

    def text(self) -> str:
        data = self.take(self.u16())
        try:
            # Java writes characters above U+FFFF as two surrogates, and U+0000 in two bytes.
            text = data.replace(b"\xc0\x80", b"\x00").decode("utf-8", "surrogatepass")
            return text.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError as error:
            raise MalformedError("it holds text that is not UTF-8") from error

    def chunks(self) -> str:
        return "".join(self.text() for _ in range(self.i32()))


def read_state_schema(
    storage: Storage, operator: int, store: StoreMetadata
) -> dict[str, list[FamilySchema]]:
    """The schemas of each family of a store, by its name: all that rows may have, the newest last.

    Raises:
        FileMissingError: there is no schema file.
        CheckpointDamagedError: a schema file cannot be parsed.
    """
    families: dict[str, list[FamilySchema]] = {}
    for path in schema_paths(operator, store):
        for family in _read(storage, path):
            families.setdefault(family.name, []).append(family)
    return families


def schema_paths(operator: int, store: StoreMetadata) -> tuple[str, ...]:
    """The schema files of a store, oldest first."""
    folder = StoreLocation(operator, 0, store.name).folder
    return store.schema_files or (f"{folder}/_metadata/schema",)


def _read(storage: Storage, path: str) -> tuple[FamilySchema, ...]:
    content = storage.content(path)
    try:
        return read_schema(content)
    except MalformedError as error:
        raise CheckpointDamagedError(
            f"Cannot understand {storage.full_path(path)}: {error}. It is a schema of Spark's; "
            "restore it from a copy, or use a Keyfold release made for the Spark that wrote it."
        ) from error
