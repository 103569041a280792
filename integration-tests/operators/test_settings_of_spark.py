"""docs/settings-of-spark.md has each streaming setting of the Spark that runs here."""

from __future__ import annotations

import re
from pathlib import Path

from pyspark.java_gateway import launch_gateway

from kit.installation import HERE

PREFIX = "spark.sql.streaming."
PAGE = Path(__file__).parents[2] / "docs/settings-of-spark.md"
ROW = re.compile(r"\| `(spark\.\S+)` \| (.+?) \| (.+?) \| (.+) \|")
# Spark has no entry of it in its registry.
UNREGISTERED = {"spark.sql.streaming.checkpointFileManagerClass"}


def table() -> dict[str, set[str]]:
    """The lines of Spark that have each setting, as the page says."""
    rows = [row.groups() for row in map(ROW.fullmatch, PAGE.read_text("utf-8").splitlines()) if row]
    assert {verdict for *_, verdict, _ in rows} == {
        "honoured", "Spark's own", "no effect", "refused"
    }  # fmt: skip
    found = {key: set(lines_of(lines)) for key, lines, *_ in rows}
    assert len(found) == len(rows), "a setting has two rows"
    return found


def lines_of(text: str) -> list[str]:
    """`4.1 to 4.3`, or `4.2, 4.3`."""
    first, _, last = text.partition(" to ")
    if not last:
        return text.split(", ")
    return [f"4.{minor}" for minor in range(int(first[2:]), int(last[2:]) + 1)]


def settings() -> set[str]:
    """The keys in Spark's registry, from a JVM of their own that has no session."""
    gateway = launch_gateway()
    try:
        internal = "org.apache.spark.sql.internal"
        for module in ("StaticSQLConf$", "SQLConf$"):
            found = gateway.jvm.java.lang.Class.forName(f"{internal}.{module}")
            registry = found.getField("MODULE$").get(None)
        keys = {entry.key() for entry in registry.getConfigEntries().toArray()}
    finally:
        gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait(60)
    return {key for key in keys if key.startswith(PREFIX)}


def test_the_page_has_every_setting_of_this_spark_and_no_other() -> None:
    said = {key for key, lines in table().items() if HERE.line in lines} - UNREGISTERED
    families = tuple(key.removesuffix("*") for key in said if key.endswith("*"))
    known = settings()
    assert len(known) > 50
    alone = {key for key in known if not key.startswith(families)}
    assert alone - said == set(), "the page lacks these settings"
    assert {key for key in said if not key.endswith("*")} - alone == set(), "Spark lacks these"
    assert all(any(key.startswith(it) for key in known) for it in families)
