"""The page docs/cluster.md, followed block by block on a standalone cluster."""

import re
import sys
from contextlib import closing
from pathlib import Path

import pytest

import keyfold
from cluster.page_reader import RIGHT, Reader, sections, without_sizes
from cluster.standalone import Standalone

MASTER = "spark://master:7077"
# Followed on clusters of their own.
OTHERS = {"YARN", "Kubernetes"}


@pytest.mark.skipif(sys.platform != "linux", reason="needs all addresses of 127.0.0.0/8")
@pytest.mark.long
@pytest.mark.timeout(600)
def test_each_command_of_the_page_ends_with_a_set_up_that_is_right(tmp_path: Path) -> None:
    blocks = [it for name, its in sections().items() if name not in OTHERS for it in its]
    with (
        closing(Standalone(tmp_path)) as cluster,
        closing(Reader(tmp_path, {MASTER: cluster.url})) as reader,
    ):
        printed = [it for block in blocks if (it := reader.follow(block)) is not None]
    # The command, spark-submit, a client of the server; a pipeline there, and without a server.
    command, job, client, served, alone, listed, notebook = map(str.rstrip, printed)
    assert [it.splitlines()[-1] for it in (command, job, client, notebook)] == [RIGHT] * 4
    # Spark's client of a server that ends may print an error of its own behind the last line.
    assert all(re.search(r": Run is COMPLETED\.$", it, re.MULTILINE) for it in (served, alone))
    setup, flows = [it.text.rstrip() for it in blocks if not it.language]
    assert without_sizes(command) == without_sizes(setup)
    assert listed.replace(str(tmp_path), "").split() == flows.split()
    state = keyfold.open_checkpoint(listed.split()[-1])["dedup"].only
    assert state.scan().to_arrow().num_rows == 1
