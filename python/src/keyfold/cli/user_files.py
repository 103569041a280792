"""What users give in files: a query of Python, rows of a table."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet  # type: ignore[import-untyped]

from keyfold import session as setup
from keyfold.errors import InvalidArgumentError
from keyfold.table.edits import ROW_KEY
from keyfold.text.json_rows import rows_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def load_query(place: str) -> Callable[[SparkSession], DataFrame]:
    """The function that `FILE.py:FUNCTION` names; the file is run, and may import its neighbours.

    Raises:
        InvalidArgumentError: there is no such file or function, or the file fails.
    """
    file, colon, name = place.rpartition(":")
    if not colon or not file or not name.isidentifier():
        raise InvalidArgumentError(
            f"Invalid query '{place}': give FILE.py:FUNCTION, a function that takes a session and "
            "returns what writeStream is called on."
        )
    if not Path(file).is_file():
        raise InvalidArgumentError(f"There is no file {file}.")
    return _QueryFile(Path(file)).function(name)


class _QueryFile:
    """A file and what it imports from its folder, of which another query may have other versions.

    They are among the modules only while the file is run or its function is called.
    """

    def __init__(self, file: Path) -> None:
        self._file = file.absolute()
        self._modules: dict[str, ModuleType] = {}

    def function(self, name: str) -> Callable[[SparkSession], DataFrame]:
        with self._imported():
            module = self._run()
        found = getattr(module, name, None)
        if not callable(found):
            raise InvalidArgumentError(f"{self._file} has no function {name}.")

        def build(spark: SparkSession) -> DataFrame:
            with self._imported():
                # Workers cannot import them.
                setup.bridge().pickle_by_value(self._modules.values())
                query: DataFrame = found(spark)
                return query

        return build

    def _run(self) -> ModuleType:
        # A name that nobody imports.
        spec = spec_from_file_location(f"keyfold_query_{id(self)}", self._file)
        if spec is None or spec.loader is None:
            raise InvalidArgumentError(f"{self._file} is no file of Python.")
        module = module_from_spec(spec)
        sys.modules[spec.name] = module
        try:
            spec.loader.exec_module(module)
        except Exception as error:
            raise InvalidArgumentError(
                f"{self._file} fails: {type(error).__name__}: {error}"
            ) from error
        return module

    @contextmanager
    def _imported(self) -> Iterator[None]:
        folder = str(self._file.parent)
        before = dict(sys.modules)
        sys.path.insert(0, folder)
        sys.modules.update(self._modules)
        try:
            yield
        finally:
            sys.path.remove(folder)
            new = {name: it for name, it in sys.modules.items() if name not in before}
            self._modules |= {name: it for name, it in new.items() if self._is_own(name, it)}
            for name in self._modules:
                sys.modules.pop(name, None)

    def _is_own(self, name: str, module: ModuleType) -> bool:
        """Whether it was found in the file's folder; a virtual environment may be below it."""
        file = getattr(module, "__file__", None)
        if file is None:
            return False
        found, top = Path(file).absolute(), self._file.parent / name.partition(".")[0]
        return found == self._file or found == top.with_suffix(".py") or top in found.parents


def read_rows(path: str, schema: pa.Schema, *, keys_only: bool) -> pa.Table:
    """The rows of a Parquet file, or of one with an object of JSON on each line.

    Args:
        path: the file; what ends with `.parquet` is Parquet.
        schema: columns of the table.
        keys_only: leave out columns that are not of the key.

    Raises:
        InvalidArgumentError: the file cannot be read, or has other columns.
    """
    names = [it for it in schema.names if it != "partition_id"]
    if keys_only:
        names = [it for it in names if it in ROW_KEY]
    columns = pa.schema([schema.field(it) for it in names])
    try:
        if path.endswith(".parquet"):
            return _parquet(path, columns)
        with Path(path).open(encoding="utf-8") as lines:
            return rows_of(lines, columns, set(schema.names) - set(names))
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:
        raise InvalidArgumentError(
            f"Cannot read rows from {path}: {error}. Give a Parquet file, or one object of JSON on "
            f"each line, with {', '.join(names)}, as `keyfold scan -o json` prints them."
        ) from error


def _parquet(path: str, columns: pa.Schema) -> pa.Table:
    rows = pyarrow.parquet.read_table(path).select(columns.names)
    # A cast makes nulls of fields that are missing.
    if _names(pa.struct(list(rows.schema))) != _names(pa.struct(list(columns))):
        raise ValueError(f"it has {rows.schema.to_string()}, not {columns.to_string()}")
    # A time without a zone, as Spark itself writes them by default, is in UTC.
    return rows.cast(columns)


def _names(of: pa.DataType) -> list[str]:
    """Names of fields, those inside of others behind them."""
    fields = [of.field(it) for it in range(of.num_fields)]
    own = [it.name for it in fields] if pa.types.is_struct(of) else []
    return own + [name for it in fields for name in _names(it.type)]
