"""Configures a Spark session to use Keyfold."""

from __future__ import annotations

import logging
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from keyfold.errors import (
    InvalidArgumentError,
    JarMissingError,
    JarNotLoadedError,
    SparkVersionError,
)
from keyfold.settings import (
    EXTENSIONS_CLASS,
    EXTENSIONS_KEY,
    JAR_NAME,
    JARS_KEY,
    PROVIDER_CLASS,
    PROVIDER_KEY,
    QUERY_SETTINGS,
    SPARK_LINE,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

T = TypeVar("T", "SparkSession.Builder", "SparkSession")

_log = logging.getLogger("keyfold")

_ON_SERVER = (
    "This session talks to a Spark Connect server: only %s was set. The server itself must have "
    "been started with %s on its class path (spark.jars, or --jars); queries fail otherwise. For "
    f"transformWithState it must also have been started with {EXTENSIONS_KEY}={EXTENSIONS_CLASS}."
)
_NO_EXTENSION = (
    f"Spark is already running without {EXTENSIONS_KEY}={EXTENSIONS_CLASS}: it will refuse "
    "transformWithState. Other queries do not need that setting. Call "
    "keyfold.configure(SparkSession.builder) before the first session is created, or set it where "
    "Spark is started."
)


def configure(target: T) -> T:
    """Makes new queries keep their state in Keyfold, and returns `target`.

    Pass a builder if you can: then driver and executors get the jar, Spark's planner allows
    transformWithState, and the Spark UI shows the provider's own metrics, which it looks up in the
    settings with which Spark was started. In a running session only the provider can be set, and
    Spark must have been started with the jar. Queries with an existing checkpoint keep the provider
    that wrote it.

    Args:
        target: `SparkSession.builder`, or a running session.

    Raises:
        InvalidArgumentError: `target` is neither.
        SparkVersionError: PySpark is not installed, or the jar is made for another version of it.
        JarMissingError: the package does not contain the jar.
        JarNotLoadedError: Spark runs already, without the jar.
    """
    jvm = bridge()
    if jvm.is_builder(target):
        _check_version(jvm.pyspark_version())
        _configure_builder(jvm, target)
    elif jvm.is_session(target):
        _configure_session(jvm, target)
    else:
        raise InvalidArgumentError(
            f"Invalid target {type(target).__name__}: pass SparkSession.builder or a session."
        )
    return target


def jar_path() -> Path:
    """The jar for Spark's class path, as a file of this package; raises JarMissingError."""
    jar = Path(str(files("keyfold"))) / "jars" / JAR_NAME
    if not jar.is_file():
        raise JarMissingError(
            f"Cannot find {jar}. In a source checkout run `make jar`; otherwise install the "
            "package again from a wheel, which carries the jar."
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


def _check_version(found: str) -> None:
    if not found.startswith(f"{SPARK_LINE}."):
        raise SparkVersionError(
            f"This package's jar is made for Spark {SPARK_LINE} and Spark is {found}. Install "
            f"pyspark=={SPARK_LINE}.*, or a Keyfold release made for Spark {found}."
        )


def _configure_builder(jvm: Any, builder: Any) -> None:  # noqa: ANN401
    if jvm.connects_to_server(builder):
        _log.warning(_ON_SERVER, PROVIDER_KEY, JAR_NAME)
    else:
        if jvm.has_jvm():
            check_loaded(jvm)
            _warn_without_extension(jvm)
        else:
            _add_jar(jvm, builder)
        jvm.append(builder, EXTENSIONS_KEY, EXTENSIONS_CLASS)
    for key, value in QUERY_SETTINGS.items():
        builder.config(key, value)


def _configure_session(jvm: Any, session: Any) -> None:  # noqa: ANN401
    _check_version(session.version)
    if jvm.is_connect_session(session):
        _log.warning(_ON_SERVER, PROVIDER_KEY, JAR_NAME)
    else:
        check_loaded(jvm)
        _warn_without_extension(jvm)
    for key, value in QUERY_SETTINGS.items():
        session.conf.set(key, value)


def _add_jar(jvm: Any, builder: Any) -> None:  # noqa: ANN401
    jar = str(jar_path())
    named = jvm.submit_jars()
    if named is not None and JAR_NAME not in named:
        raise JarNotLoadedError(
            f"PYSPARK_SUBMIT_ARGS names --jars {named}, which Spark prefers to the setting this "
            f"function makes. Add {jar} to that list."
        )
    if named is None:
        jvm.append(builder, JARS_KEY, jar)


def _warn_without_extension(jvm: Any) -> None:  # noqa: ANN401
    if jvm.runs_without(EXTENSIONS_KEY, EXTENSIONS_CLASS):
        _log.warning(_NO_EXTENSION)


def check_loaded(jvm: Any) -> None:  # noqa: ANN401
    """Raises JarNotLoadedError if the running JVM lacks the jar."""
    if not jvm.loads_class(PROVIDER_CLASS):
        raise JarNotLoadedError(
            "Spark is already running without Keyfold's jar, and jars cannot be added to a running "
            "JVM. Either call keyfold.configure(SparkSession.builder) before this process makes "
            f"its first session, or set spark.jars to {_jar_or_name()} where Spark is started "
            "(spark-submit --jars, or a properties file such as conf/keyfold-defaults.conf)."
        )


def _jar_or_name() -> str:
    try:
        return str(jar_path())
    except JarMissingError:
        return f"the path of {JAR_NAME}"
