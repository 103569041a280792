"""Makes the checkpoint of a query that has not run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from keyfold import session as setup
from keyfold.admin import bridge
from keyfold.errors import ClassicSessionError

if TYPE_CHECKING:
    import os

    from pyspark.sql import DataFrame


def bootstrap(
    query: DataFrame, path: str | os.PathLike[str], output_mode: str, watermark_ms: int
) -> None:
    """The same as `keyfold.bootstrap`."""
    jvm, spark = setup.bridge(), query.sparkSession
    if jvm.is_connect_session(spark):
        raise ClassicSessionError(
            "Making the checkpoint of a query needs a JVM in this process, which Spark Connect does"
            " not have. Run the script with spark-submit where the checkpoint can be reached."
        )
    setup.check_loaded(jvm)
    arguments = (jvm.java_frame(query), bridge.place(path), output_mode, watermark_ms)
    jvm.call(spark, bridge.API, "bootstrap", *arguments)
