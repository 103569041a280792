"""The schemas of an operator's stores, from Spark's schema files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from keyfold.errors import CheckpointDamagedError
from keyfold.format.location import StoreLocation
from keyfold.schema.data_type import Struct
from keyfold.schema.schema_file import FamilySchema, read_schema
from keyfold.spark_log.logs import StoreMetadata
from keyfold.storage.storage import Storage
from keyfold.wire.cursor import MalformedError


@dataclass(frozen=True)
class StateSchema:
    """The families of a store by name, and by id every schema that their rows may have."""

    families: Mapping[str, FamilySchema]
    keys: Mapping[str, Mapping[int, Struct]]
    values: Mapping[str, Mapping[int, Struct]]


def read_state_schema(storage: Storage, operator: int, store: StoreMetadata) -> StateSchema:
    """The schemas of a store, of which the newest counts.

    Raises:
        FileMissingError: there is no schema file.
        CheckpointDamagedError: a schema file cannot be parsed.
    """
    families: dict[str, FamilySchema] = {}
    keys: dict[str, dict[int, Struct]] = {}
    values: dict[str, dict[int, Struct]] = {}
    for path in schema_paths(operator, store):
        for family in _read(storage, path):
            families[family.name] = family
            keys.setdefault(family.name, {})[family.key_id] = family.key
            values.setdefault(family.name, {})[family.value_id] = family.value
    return StateSchema(families, keys, values)


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
