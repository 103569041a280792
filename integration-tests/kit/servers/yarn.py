"""A YARN of one node, which kills containers that take more memory than they asked for."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from kit.servers.server import Server


class Pending(NamedTuple):
    """What waits: applications that have not begun, and containers of those that have."""

    applications: int
    containers: int


class Yarn(Server):
    """It has room for one application with two executors of Spark's default sizes.

    `address` is the folder for HADOOP_CONF_DIR.
    """

    def __init__(self, folder: Path) -> None:
        """Starts it, with what containers write in a folder that is not there yet."""
        super().__init__("YarnMain", folder)

    def pending(self) -> Pending:
        return Pending(*map(int, self.ask("pending").split()))

    def conf(self, spark: Path) -> dict[str, str]:
        """With which the Spark of a folder starts applications here, without copies of itself."""
        return {
            "spark.yarn.jars": f"local:{spark}/jars/*",
            # Spark asks for containers, and learns of them, at each of these.
            "spark.yarn.scheduler.heartbeat.interval-ms": "500",
            # Which executors get from it.
            "spark.yarn.appMasterEnv.SPARK_LOCAL_IP": "127.0.0.1",
            "spark.yarn.stagingDir": str(Path(self.address).parent / "staging"),
        }

    def output(self) -> str:
        """What the containers of all applications have printed."""
        logs = Path(self.address).parent / "logs"
        return "".join(it.read_text(errors="replace") for it in sorted(logs.glob("*/*/stdout")))
