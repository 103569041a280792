"""What Spark must be told to use Keyfold; `conf/keyfold-defaults.conf` says the same."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

PROVIDER_CLASS: Final = "io.keyfold.spark.KeyfoldStateStoreProvider"
PROVIDER_KEY: Final = "spark.sql.streaming.stateStore.providerClass"

SPARK_LINE: Final = "4.2"
JARS_KEY: Final = "spark.jars"
JAR_NAME: Final = f"keyfold-spark_{SPARK_LINE}_2.13.jar"

# Lets transformWithState run with a provider that Spark does not list; read when a session is made.
EXTENSIONS_CLASS: Final = "io.keyfold.spark.KeyfoldExtensions"
EXTENSIONS_KEY: Final = "spark.sql.extensions"

# Version 2 gives each attempt at a batch files of its own; the commit log says whose are read.
FORMAT_KEY: Final = "spark.sql.streaming.stateStore.checkpointFormatVersion"
FORMAT_VERSION: Final = "2"

QUERY_SETTINGS: Final[Mapping[str, str]] = MappingProxyType(
    {PROVIDER_KEY: PROVIDER_CLASS, FORMAT_KEY: FORMAT_VERSION}
)
