"""Configures a Spark session to use Keyfold."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from keyfold import settings
from keyfold._version import __version__
from keyfold.errors import (
    InvalidArgumentError,
    JarMissingError,
    JarNotLoadedError,
    SparkVersionError,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

T = TypeVar("T", "SparkSession.Builder", "SparkSession")

_log = logging.getLogger("keyfold")

_PLUGIN = (settings.PLUGINS_KEY, settings.PLUGIN_CLASS)
_EXTENSION = (settings.EXTENSIONS_KEY, settings.EXTENSIONS_CLASS)
_ON_SERVER = (
    "This session talks to a Spark Connect server: only settings of the session were set. The "
    "server itself must have been started with %s on its class path (spark.jars, or --jars); "
    "queries fail otherwise. For transformWithState it must also have been started with "
    f"{'='.join(_EXTENSION)}. keyfold.check says of a session whether it was."
)
_NO_EXTENSION = (
    f"Spark is already running without {'='.join(_EXTENSION)}: it will refuse "
    "transformWithState. Other queries do not need that setting. Call "
    "keyfold.configure(SparkSession.builder) before the first session is created, or set it where "
    "Spark is started."
)
_NO_PLUGIN = (
    f"Spark is already running without {'='.join(_PLUGIN)}: it has no metrics of state. "
    "Call keyfold.configure(SparkSession.builder, metrics=True) before the first session is "
    "created, or set it where Spark, or the Spark Connect server, is started."
)


def configure(target: T, *, partitions: int | None = None, metrics: bool = False) -> T:
    """Makes new queries keep their state in Keyfold, and returns `target`.

    Pass a builder if you can: then driver and executors get the jar, Spark's planner allows
    transformWithState, and the Spark UI shows the provider's own metrics, which it looks up in the
    settings with which Spark was started. In a running session only the provider can be set, and
    Spark must have been started with the jar. Queries with an existing checkpoint keep the provider
    that wrote it.

    Args:
        target: `SparkSession.builder`, or a running session.
        partitions: number of partitions of the state of every query that starts. A query whose
            checkpoint has another number is rescaled before its first batch; a new one begins with
            `spark.sql.shuffle.partitions`. By default queries keep the number that they have.
        metrics: publish metrics of executors, queries and operators through Spark's metrics
            system, for Prometheus at `/metrics/prometheus` of Spark's UI, which gets a tab
            "State". Only for a builder, before Spark runs.

    Raises:
        InvalidArgumentError: `target` is neither, or `partitions` is no whole number above 0.
        SparkVersionError: PySpark is not installed, there is no jar for this version of Spark, or
            Spark runs already with the jar for another one, or is about to.
        JarMissingError: the package does not contain the jar.
        JarNotLoadedError: Spark runs already, without the jar.
    """
    if partitions is not None and (type(partitions) is not int or partitions < 1):
        raise InvalidArgumentError(
            f"The number of partitions must be a whole number above 0, not {partitions!r}."
        )
    wanted = dict(settings.QUERY_SETTINGS)
    if partitions is not None:
        wanted[settings.PARTITIONS_KEY] = str(partitions)
    jvm = bridge()
    if jvm.is_builder(target):
        _configure_builder(jvm, target, wanted)
        if metrics:
            _add_metrics(jvm, target)
    elif jvm.is_session(target):
        _configure_session(jvm, target, wanted)
        if metrics and (jvm.is_connect_session(target) or jvm.runs_without(*_PLUGIN)):
            _log.warning(_NO_PLUGIN)
    else:
        raise InvalidArgumentError(
            f"Invalid target {type(target).__name__}: pass SparkSession.builder or a session."
        )
    return target


def jar_path(line: str | None = None) -> Path:
    """The jar for Spark's class path, as a file of this package.

    Args:
        line: the line or version of Spark that it is for, such as "4.2" or "4.2.1"; by default
            that of the Spark which PySpark starts here.

    Raises:
        SparkVersionError: there is no jar for that line, or no PySpark to ask.
        JarMissingError: the package does not contain the jar.
    """
    name = settings.jar_name(_line_of(bridge().spark_version() if line is None else str(line)))
    jar = Path(str(files("keyfold"))) / "jars" / name
    if not jar.is_file():
        raise JarMissingError(
            f"Cannot find {jar}. In a source checkout run `make jars`; otherwise install the "
            "package again from a wheel, which carries the jars."
        )
    return jar


def bridge() -> Any:  # noqa: ANN401
    """The module that uses PySpark; raises SparkVersionError without it."""
    try:
        return import_module("keyfold._jvm")
    except ImportError as error:
        raise SparkVersionError(
            f"Cannot import PySpark: {error}. Install it with `pip install 'keyfold[spark]'`."
        ) from error


def _line_of(version: str, whose: str = "") -> str:
    """The line of a version of Spark, if there is a jar for it."""
    line = ".".join(version.split(".")[:2])
    if line in settings.SPARK_LINES:
        return line
    oldest, newest = settings.SPARK_LINES[0], settings.SPARK_LINES[-1]
    major, minor = newest.split(".")
    raise SparkVersionError(
        f"Keyfold {__version__} has jars for Spark {oldest} to {newest}, not for "
        f"{version or 'an empty name'}{whose}. Install one of these with `pip install "
        f"'pyspark>={oldest},<{major}.{int(minor) + 1}'`, or a Keyfold that knows it with "
        "`pip install --upgrade keyfold`."
    )


def _configure_builder(jvm: Any, builder: Any, wanted: Mapping[str, str]) -> None:  # noqa: ANN401
    if jvm.connects_to_server(builder):
        _log.warning(_ON_SERVER, "the jar for its line of Spark")
    else:
        if jvm.has_jvm():
            check_loaded(jvm)
            _warn_without_extension(jvm)
        else:
            _add_jar(jvm, builder, jar_path())
        jvm.append(builder, *_EXTENSION)
    for key, value in wanted.items():
        builder.config(key, value)


def _add_metrics(jvm: Any, builder: Any) -> None:  # noqa: ANN401
    if jvm.connects_to_server(builder) or jvm.runs_without(*_PLUGIN):
        _log.warning(_NO_PLUGIN)
        return
    jvm.append(builder, *_PLUGIN)
    for key, value in settings.PROMETHEUS_SETTINGS.items():
        builder.config(key, value)


def _configure_session(jvm: Any, session: Any, wanted: Mapping[str, str]) -> None:  # noqa: ANN401
    if jvm.is_connect_session(session):
        line = _line_of(
            session.version, f" on the server (PySpark here is {jvm.pyspark_version()})"
        )
        _log.warning(_ON_SERVER, settings.jar_name(line))
    else:
        check_loaded(jvm)
        _warn_without_extension(jvm)
    for key, value in wanted.items():
        session.conf.set(key, value)


def _add_jar(jvm: Any, builder: Any, jar: Path) -> None:  # noqa: ANN401
    submitted = jvm.submit_jars()
    named = jvm.items(builder, settings.JARS_KEY) if submitted is None else submitted
    lines = {line: it for it in named if (line := settings.line_of_jar(it)) is not None}
    ours = settings.line_of_jar(jar.name)
    where = settings.JARS_KEY if submitted is None else "--jars in PYSPARK_SUBMIT_ARGS"
    for line in lines.keys() - {ours}:
        # Of two jars Spark would take classes from the one that is named first.
        raise SparkVersionError(
            f"{where} names {lines[line]}, Keyfold's jar for Spark {line}, and Spark here is of "
            f"line {ours}. Name {jar} instead."
        )
    if ours in lines:
        return
    if submitted is not None:
        raise JarNotLoadedError(
            f"PYSPARK_SUBMIT_ARGS names --jars {','.join(submitted)}, which Spark prefers to the "
            f"setting this function makes. Add {jar} to that list."
        )
    jvm.append(builder, settings.JARS_KEY, str(jar))


def _warn_without_extension(jvm: Any) -> None:  # noqa: ANN401
    if jvm.runs_without(*_EXTENSION):
        _log.warning(_NO_EXTENSION)


def check_loaded(jvm: Any) -> None:  # noqa: ANN401
    """Checks that the running JVM has the jar for its Spark.

    Raises:
        JarNotLoadedError: it has none.
        SparkVersionError: it has the jar for another line, or there is no jar for its Spark.
    """
    version = jvm.running_version()
    line = _line_of(version)
    made_for = jvm.line_of_jar()
    if made_for is None:
        raise JarNotLoadedError(
            "Spark is already running without Keyfold's jar, and jars cannot be added to a running "
            "JVM. Either call keyfold.configure(SparkSession.builder) before this process makes "
            f"its first session, or set spark.jars to {_jar_or_name(line)} where Spark is started "
            "(spark-submit --jars, or a properties file such as conf/keyfold-defaults.conf)."
        )
    if made_for != line:
        raise SparkVersionError(
            f"Spark is {version} and runs with Keyfold's jar for Spark {made_for}. Start it with "
            f"{_jar_or_name(line)} instead (spark.jars, or spark-submit --jars)."
        )


def _jar_or_name(line: str) -> str:
    try:
        return str(jar_path(line))
    except JarMissingError:
        return f"the path of {settings.jar_name(line)}"
