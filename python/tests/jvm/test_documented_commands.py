"""Each `keyfold` command of README and docs is run; pages in OWN_TESTS have their own tests."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner, Result
from pyspark.cloudpickle import register_pickle_by_value
from pyspark.sql import DataFrame, SparkSession

import keyfold
from keyfold.cli.main import cli
from kit.providers import HDFS, session_of
from kit.servers.s3 import ACCESS_KEY, BUCKET, REGION, SECRET_KEY, S3Server, endpoint
from python.tests.jvm.word_queries import run

pytestmark = pytest.mark.spark

ROOT = Path(__file__).parents[3]
OWN_TESTS = {ROOT / "docs" / it for it in ("tutorial.md", "runbook.md", "cluster.md", "api.md")}
PAGES = {ROOT / it for it in ("README.md", "python/README.md", "CONTRIBUTING.md", "CHANGELOG.md")}
PAGES |= {ROOT / "docs/errors.toml", *(ROOT / "docs").rglob("*.md")} - OWN_TESTS
# With the README's first lines, by integration-tests/lines/test_first_lines.py.
RUN_ELSEWHERE = {"""get counts agg '{"digit": 3}'"""}
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
# What stands for the checkpoint; some commands name no more than the verb.
PLACES = ("PATH", "CHECKPOINT", "/data/checkpoints/delays", "s3://bucket/checkpoints/clicks")
BATCHES = [["JFK", "LGA"], ["JFK"], ["EWR", "JFK"]]
# Commands on a checkpoint with state of an operator's subtasks; the last of them undoes another.
OF_SUBTASKS = ("BufferingSink", "0/pending", "--undo --apply ")
# Workers do not have the tests' modules.
register_pickle_by_value(sys.modules[__name__])


def documented() -> list[str]:
    """Commands without `keyfold`, each once."""
    found: set[str] = set()
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for block in FENCED.findall(text):
            found |= set(re.findall(r"^(?:\$ )?keyfold (.*)$", block, re.MULTILINE))
        sentences = re.findall(r"`keyfold\s([^`]*)`", FENCED.sub("", text))
        for words in (it.split() for it in sentences):
            found |= {" ".join([verb, *words[1:]]) for verb in words[0].split("|")}
    return sorted(found - RUN_ELSEWHERE)


def delays(stream: DataFrame) -> DataFrame:
    """Counts whose key has two columns, as README's."""
    columns = stream.selectExpr("word AS origin", "length(word) AS letters")
    return columns.groupBy("origin", "letters").count()


class Pending(keyfold.OperatorFunction):
    """Keeps all rows."""

    def open(self, ctx: keyfold.OperatorContext) -> None:
        self.pending = ctx.list_state("pending", "word string")

    def process(self, batches: Iterator[pa.RecordBatch]) -> None:
        for batch in batches:
            self.pending.add_all([(it,) for it in batch.column("word").to_pylist()])


def buffering(stream: DataFrame) -> DataFrame:
    """The operator of docs/operator-state.md."""
    return keyfold.with_operator_state(
        stream, Pending(), "word string", parallelism=2, name="BufferingSink"
    )


@pytest.fixture(scope="module")
def root(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three batches of Keyfold's (`delays`, `subtasks`) and of HDFSBacked (`old`)."""
    made = tmp_path_factory.mktemp("documented")
    run(spark, made, delays, BATCHES, "delays")
    run(spark, made, buffering, BATCHES, "subtasks")
    run(session_of(spark, HDFS, 1), made, delays, [["JFK"]], "old")
    row = '{"key": {"origin": "JFK", "letters": 3}, "value": {"count": 5}}'
    (made / "rows.json").write_text(row, encoding="utf-8")
    (made / "app.py").write_text(
        "def build(spark):\n"
        f"    rows = spark.readStream.schema('word string').json('{made / 'in'}')\n"
        "    return rows.selectExpr('word AS origin').groupBy('origin').count()\n",
        encoding="utf-8",
    )
    return made


@pytest.fixture(scope="module")
def s3(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """A server with a copy of the checkpoint."""
    server = S3Server(tmp_path_factory.mktemp("s3"))
    shutil.copytree(root / "delays", server.bucket / "clicks")
    yield server
    server.close()


def test_the_commands_are_found() -> None:
    assert {"vacuum PATH", "rescale --undo", "scan CHECKPOINT ..."} <= set(documented())


@pytest.mark.parametrize("text", [it for it in documented() if not set(it.split()) & set(PLACES)])
def test_a_command_that_is_only_named(text: str) -> None:
    verb, *options = shlex.split(text)
    if verb == "COMMAND":
        assert options == ["--help"]
        return
    assert set(options) <= {it for param in cli.commands[verb].params for it in param.opts}


# What a page leaves to the reader, filled in as the reader would.
ELLIPSES = {
    "inspect": "partitions",
    "get": """agg '{"origin": "JFK", "letters": 3}'""",
    "scan": "agg",
    "diff": "agg 0 2",
    "history": """agg '{"origin": "JFK", "letters": 3}'""",
    "report": "{root}/state.html",
    "rescale": "--to 8",
    "rollback": "--to-batch 1",
    "savepoint": "kept",
    "clone": "{root}/another",
    "sync": "{root}/synced",
    "edit": "agg --put {root}/rows.json",
}
EVOLVE, EVOLVED = "evolve PATH --to app.py:build", "evolve PATH --to {root}/app.py:build"
WATCH = "watch CHECKPOINT -o json --seconds"
FILLED_IN = {
    "get CHECKPOINT TABLE KEY": "get CHECKPOINT " + ELLIPSES["get"],
    "report PATH delays.html": "report PATH {root}/delays.html",
    "migrate CHECKPOINT": "migrate CHECKPOINT",
    "clone PATH TO": "clone PATH {root}/copy",
    "sync PATH TO": "sync PATH {root}/synced",
    # It ends with Ctrl-C.
    "watch CHECKPOINT": "watch CHECKPOINT --seconds 0",
    "watch PATH": "watch PATH --seconds 0",
    "watch CHECKPOINT --interval 10": "watch CHECKPOINT --interval 10 --seconds 0",
    f"{WATCH} 600 > batches.jsonl": f"{WATCH} 0",
    "savepoint PATH NAME": "savepoint PATH before-upgrade",
    f"{EVOLVE} --into NEW": f"{EVOLVED} --into {{root}}/new --output-mode update",
    f"{EVOLVE} --into NEW --apply": f"{EVOLVED} --into {{root}}/new --output-mode update --apply",
}


@pytest.mark.parametrize("text", [it for it in documented() if set(it.split()) & set(PLACES)])
def test_a_command_runs(request: pytest.FixtureRequest, root: Path, text: str) -> None:
    verb = text.split(maxsplit=1)[0]
    words = FILLED_IN.get(text, text).replace(" ...", " " + ELLIPSES.get(verb, ""))
    words = words.replace("{root}", str(root)).replace("--to-batch 1010", "--to-batch 1")
    environment = {}
    if "s3://" in words:
        server: S3Server = request.getfixturevalue("s3")
        words = words.replace("s3://bucket/checkpoints", f"s3://{BUCKET}")
        words = words.replace("http://minio:9000", endpoint(server.port))
        environment = {
            "AWS_ACCESS_KEY_ID": ACCESS_KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
            "AWS_REGION": REGION,
        }
    name = "old" if verb == "migrate" else "delays"
    if any(it in words for it in OF_SUBTASKS):
        name = "subtasks"
    for place in PLACES[:3]:
        words = words.replace(place, str(root / name))
    arguments = shlex.split(words, comments=True)
    done: Result = CliRunner(env=environment).invoke(cli, arguments)
    assert done.exit_code == 0, (words, done.output, done.exception)
    assert done.stdout
