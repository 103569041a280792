"""What sessions need for Kafka and Delta: jars for their line of Spark, and settings."""

import os
import subprocess
from collections.abc import Sequence

import pyspark

from demo.errors import DemoError
from kit.connectors import DELTA, DELTA_SETTINGS, EXTENSIONS, RELEASES, connectors


def settings(names: Sequence[str], version: str = pyspark.__version__) -> dict[str, str]:
    """Settings for some connectors; downloads their jars at the first time."""
    line = ".".join(version.split(".")[:2])
    lines = [it for it in RELEASES[names[0]] if all(it in RELEASES[name] for name in names)]
    if line not in lines:
        raise DemoError(
            f"For Spark {line} there are no connectors to {' and '.join(names)} yet; give "
            f"{' or '.join(f'SPARK={it}' for it in reversed(lines))}"
        )
    try:
        jars = connectors(line, *names)
    except (OSError, subprocess.SubprocessError) as error:
        raise DemoError(f"Maven cannot download the connectors: {error}") from error
    conf = {"spark.jars": jars.replace(os.pathsep, ",")}
    if DELTA in names:
        conf |= {"spark.sql.extensions": EXTENSIONS[DELTA], **DELTA_SETTINGS}
    return conf
