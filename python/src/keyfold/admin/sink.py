"""The table that a query writes to, for the operations that take a query back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from keyfold.sinks.find import find_version, table_log
from keyfold.sinks.sink_table import SinkTable
from keyfold.storage.storage import Storage

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping


def table_in(
    place: str, path: str | os.PathLike[str], options: Mapping[str, Any] | None, batch: int
) -> SinkTable | None:
    """The Delta or Iceberg table in a folder, and its version as of a batch of a query.

    Args:
        place: the folder.
        path: checkpoint of the query.
        options: of the checkpoint's storage.
        batch: a batch of the query.

    Returns:
        None if it is no table.

    Raises:
        ExtraMissingError: the file system needs a package that is not installed.
        InvalidArgumentError: the newest commits are not in the log of the table.
        TableDamagedError: the log of the table cannot be parsed.
        FileMissingError: the id of the query is lost.
        CheckpointDamagedError: the id of the query cannot be parsed.
        StorageError: a file cannot be read.
    """
    checkpoint = Storage(path, options)
    table = checkpoint.elsewhere(place)
    log = table_log(table.once())
    # As it is shown: a URI may have credentials in it.
    return None if log is None else find_version(log, table.root, checkpoint, batch)
