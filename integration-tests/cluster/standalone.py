"""A standalone cluster of two hosts: a master and two workers, on loopback addresses of their own.

Spark starts no speculative copy on a host that has an attempt of the task, and the workers of
`local-cluster` are all on one host. Only Linux answers at every address of 127.0.0.0/8.
"""

from pathlib import Path

from kit.program import Program, home_in

MASTER = "127.0.0.1"
WORKERS = ("127.0.0.2", "127.0.0.3")
ANY_PORT = ("--port", "0", "--webui-port", "0")


class Standalone:
    """The cluster, with its logs in `folder`. A worker has one core and 1 GiB."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._started: list[Program] = []
        try:
            self.url = self._start_master()
            workers = [self._start_worker(host) for host in WORKERS]
            for worker in workers:
                worker.wait_until_said("Successfully registered with master")
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Kills master, workers and executors."""
        for program in self._started:
            program.kill()

    def _start_master(self) -> str:
        master = self._start("master.Master", MASTER)
        return master.wait_until_said(r"Starting Spark master at (spark://\S+)")[1]

    def _start_worker(self, host: str) -> Program:
        return self._start("worker.Worker", host, "--cores", "1", "--memory", "1g", self.url)

    def _start(self, name: str, host: str, *arguments: str) -> Program:
        command = [
            *("spark-class", f"org.apache.spark.deploy.{name}", "--host", host),
            *ANY_PORT,
            *arguments,
        ]
        program = Program(home_in(self._folder), command, self._folder / f"{host}.log")
        self._started.append(program)
        return program
