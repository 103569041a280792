"""The state that providers keep of one query, side by side."""

from __future__ import annotations

import re
from collections.abc import Mapping

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from kit.reading import compare, tables
from likespark.settings import JOIN
from likespark.sinks import Bag, bag
from likespark.trial import Trial, signature
from likespark.world import KEYFOLD

# PySpark cannot hand such rows over.
NOT_IN_PYTHON = ("UNSUPPORTED", "DUPLICATED_FIELD_NAME")
# Of rows with a time to live, by the clock: a column, and the last field of a value.
CLOCK = {"expiration_timestamp", "ttlExpirationMs"}
EXPIRES = re.compile(r", \d{13}}")


def difference_of_states(trials: Mapping[str, Trial]) -> tuple[str, str] | None:
    """The kind of a difference and what it is; None if the state is the same."""
    ours = trials[KEYFOLD]
    if ours.world.settings.get(JOIN) == "4":
        # Of a side Spark's source shows an event time that is not there: other memory.
        return None
    try:
        found = list(tables(ours.checkpoint))
    except Exception as error:  # noqa: BLE001 - whatever the reader says is a finding
        return f"cannot be opened: {signature(str(error))}", repr(error)
    for table, options in found:
        for name, it in trials.items():
            if name == KEYFOLD:
                continue
            theirs = _rows(it, options)
            mine = _rows(ours, options)
            if not isinstance(theirs, str) and theirs != mine:
                return f"differs: {table.kind}", f"{table.name}: {name} {theirs}, Keyfold {mine}"
    return _reader_says(ours)


def _reader_says(ours: Trial) -> tuple[str, str] | None:
    try:
        compare(ours.session(), ours.checkpoint)
    except UnicodeDecodeError:
        # Arrow makes no text of such bytes; the rows themselves were compared before.
        pass
    except PySparkException as error:
        if not any(it in str(error) for it in NOT_IN_PYTHON):
            return f"source: {signature(str(error))}", str(error)
    except Exception as error:  # noqa: BLE001 - whatever the reader says is a finding
        return f"reader: {type(error).__name__}: {signature(str(error))}", repr(error)
    return None


def _rows(trial: Trial, options: Mapping[str, str]) -> Bag | str:
    try:
        source = trial.session().read.format("statestore").options(**options)
        found = bag(_without_clock(source.load(str(trial.checkpoint)), trial))
        return sorted(EXPIRES.sub("}", it) for it in found)
    except (PySparkException, Py4JError) as error:
        return f"fails: {error}"


def _without_clock(rows: DataFrame, trial: Trial) -> DataFrame:
    partitions = {"partition_id"} if any(trial.world.partitions) else set()
    return rows.drop(*(CLOCK | partitions))
