"""Settings that Spark was given and that its client for Spark Connect has dropped.

`spark-pipelines`, and `spark-submit` in the mode of Connect, hand what they were given to Python in
groups of ten settings, in no order. PySpark 4.0 to 4.3 reads all groups and keeps the last.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping

from keyfold.settings import JARS_KEY
from keyfold.setup.report import SetupFinding

_NUMBER, _GROUP = "PYSPARK_REMOTE_INIT_CONF_LEN", "PYSPARK_REMOTE_INIT_CONF_"


def lost_settings(
    setting: Callable[[str], str | None], environment: Mapping[str, str]
) -> SetupFinding | None:
    """Names settings of SQL, and the jars, that were given and are not set; None if all are.

    Args:
        setting: gives the value that is set in the session, or None.
        environment: the variables of this process.
    """
    lost = [it for it in _given(environment) if setting(it) is None]
    if not lost:
        return None
    return SetupFinding(
        "lost settings",
        ", ".join(sorted(lost)),
        "spark-pipelines was given these, and Spark's Connect client kept only some. Write them to "
        "spark-defaults.conf in the folder that SPARK_CONF_DIR names, or start a Connect server "
        "with them and give it as --remote.",
    )


def _given(environment: Mapping[str, str]) -> Iterator[str]:
    for number in range(int(environment.get(_NUMBER, "0"))):
        for key in json.loads(environment[f"{_GROUP}{number}"]):
            if key == JARS_KEY or key.startswith("spark.sql."):
                yield key
