"""The schemas of an operator's stores, from Spark's schema files."""

from __future__ import annotations

from keyfold.errors import CheckpointDamagedError
from keyfold.format.location import StoreLocation
from keyfold.schema.schema_file import FamilySchema, read_schema
from keyfold.spark_log.logs import StoreMetadata
from keyfold.storage.storage import Storage
from keyfold.wire.cursor import MalformedError


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
