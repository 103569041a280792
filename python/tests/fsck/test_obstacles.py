"""What keeps a query from starting beside damage to its state, and the way out that is named.

What Spark does in each case was seen in a real query: the walk in integration-tests/incidents.
"""

from __future__ import annotations

import base64
import json
import shutil
from pathlib import Path

import google_crc32c
import pytest

import keyfold
from keyfold.fsck.finding import Kind, Severity
from keyfold.fsck.operators import is_lost, is_same_location
from keyfold.fsck.report import FsckReport
from keyfold.settings import PROVIDER_CLASS
from kit.fake_checkpoint import FakeCheckpoint
from kit.providers import HDFS
from kit.state_writer import StateWriter


@pytest.fixture(params=[True, False], ids=["with ids", "without"])
def writer(fake: FakeCheckpoint, request: pytest.FixtureRequest) -> StateWriter:
    """Batches 0 to 4."""
    return written(fake, ids=request.param)


@pytest.fixture
def with_ids(fake: FakeCheckpoint) -> StateWriter:
    return written(fake, ids=True)


def written(fake: FakeCheckpoint, *, ids: bool) -> StateWriter:
    found = StateWriter(fake, ids=ids)
    for number in range(5):
        found.batch({number: number, number + 10: number})
    return found


def check(fake: FakeCheckpoint) -> FsckReport:
    return keyfold.open_checkpoint(fake.root).fsck()


def lose(fake: FakeCheckpoint, *paths: str) -> None:
    for path in paths:
        (fake.root / path).unlink()


def write_plan(fake: FakeCheckpoint, batch: int, text: str) -> Path:
    checksum = google_crc32c.value(text.encode())
    return fake.write(f"keyfold/rescale-{batch}-open-1.plan", f"{text}crc32c {checksum:08x}\n")


def rollback(fake: FakeCheckpoint, batch: int) -> str:
    return f"keyfold rollback {fake.root} --to-batch {batch} --apply"


def stops(report: FsckReport) -> list[tuple[Kind, str]]:
    return [(it.kind, it.path) for it in report.findings if it.severity is Severity.STOPS]


def test_newest_two_commits_are_lost(writer: StateWriter) -> None:
    """Without ids Spark begins batch 4 again, from files whose names it knows."""
    lose(writer.fake, "commits/3", "commits/4")
    report = check(writer.fake)
    if writer.ids:
        assert str(report).splitlines()[-1] == rollback(writer.fake, 2)
        assert stops(report) == [(Kind.DAMAGED, f"{writer.fake.root}/commits")]
        assert "the commit log does not have batch 3 before it" in str(report)
    else:
        assert (report.ok, report.verdict.can_start) == (True, True)
        writer.path(4).unlink()
        assert str(check(writer.fake)).splitlines()[-1] == rollback(writer.fake, 2)


def test_all_offsets_but_the_newest_are_lost(writer: StateWriter) -> None:
    lose(writer.fake, *(f"offsets/{it}" for it in range(4)))
    report = check(writer.fake)
    assert stops(report) == [(Kind.DAMAGED, f"{writer.fake.root}/offsets/3")]
    assert (report.ok, report.verdict.can_start, report.verdict.last_batch) == (False, False, 4)
    assert "Batch 4, the last, is damaged" in str(report)
    assert "no batch is left to go back to" in str(report)


def test_both_logs_are_lost(writer: StateWriter) -> None:
    lose(writer.fake, *(f"{log}/{it}" for log in ("offsets", "commits") for it in range(5)))
    report = check(writer.fake)
    assert stops(report) == [(Kind.DAMAGED, f"{writer.fake.root}/offsets")]
    assert "no batch is left to go back to" in str(report)


def test_the_state_is_lost(writer: StateWriter) -> None:
    """Without ids, only Spark knows from the query that there was state."""
    shutil.rmtree(writer.fake.root / "state")
    report = check(writer.fake)
    assert report.verdict.can_start != writer.ids
    assert "no batch is left to go back to" in str(report)


def test_newest_commit_is_lost(writer: StateWriter) -> None:
    lose(writer.fake, "commits/4")
    assert check(writer.fake).verdict.can_start


def test_all_commits_are_lost(writer: StateWriter) -> None:
    lose(writer.fake, *(f"commits/{it}" for it in range(5)))
    report = check(writer.fake)
    assert report.verdict.can_start is not writer.ids
    writer.path(4).unlink()
    report = check(writer.fake)
    assert not report.verdict.can_start
    assert str(report).endswith("no batch is left to go back to.")


def test_open_batch_does_not_need_the_offsets_of_the_batch_before_the_last(
    writer: StateWriter,
) -> None:
    writer.fake.start(5)
    lose(writer.fake, "offsets/3")
    assert check(writer.fake).verdict.can_start
    lose(writer.fake, "offsets/5")
    assert str(check(writer.fake)).splitlines()[-1] == rollback(writer.fake, 2)


def test_rescale_with_a_batch_of_its_own_was_interrupted(writer: StateWriter) -> None:
    writer.fake.start(5, partitions=3)
    report = check(writer.fake)
    assert stops(report) == [(Kind.UNFINISHED, f"{writer.fake.root}/offsets/5")]
    assert "Rescale to 3 partitions again, or go back to batch 4" in str(report)
    assert str(report).splitlines()[-1] == rollback(writer.fake, 4)
    lose(writer.fake, "commits/4")
    report = check(writer.fake)
    assert not report.verdict.can_start
    assert str(report).splitlines()[-1] == rollback(writer.fake, 3)


@pytest.mark.parametrize("is_undone", [False, True])
def test_rescale_before_an_open_batch_was_interrupted(
    with_ids: StateWriter,
    is_undone: bool,  # noqa: FBT001 - a parameter
) -> None:
    fake = with_ids.fake
    fake.start(5)
    old = fake.root.joinpath("offsets/4").read_bytes()
    new = old.replace(b'partitions": "2"', b'partitions": "3"')
    assert old != new
    old64, new64 = (base64.b64encode(it).decode() for it in (old, new))
    plan = (
        "keyfold-rescale 1\nbatch 5\nid open-1\nfrom 2\nto 3\n"
        f"undone {str(is_undone).lower()}\nfile offsets/4 {old64} {new64}\n"
    )
    path = write_plan(fake, 5, plan)
    left, gone = (new, old) if is_undone else (old, new)
    fake.write("offsets/4", left)
    report = check(fake)
    assert (Kind.UNFINISHED, str(path)) in stops(report)
    assert str(report).splitlines()[-1] == f"keyfold rescale {fake.root} --undo --apply"
    fake.write("offsets/4", gone)
    assert (Kind.UNFINISHED, str(path)) not in stops(check(fake))


def test_batch_was_committed_by_a_driver_that_did_not_know_of_the_rescale(
    with_ids: StateWriter,
) -> None:
    ref = "".join(f"ref state/0/{it}/4_x{it}.ref\n" for it in range(3))
    head = "keyfold-rescale 1\nbatch 4\nid open-1\nfrom 2\nto 3\nundone "
    write_plan(with_ids.fake, 4, f"{head}false\nstore 0 default\n{ref}")
    assert check(with_ids.fake).verdict.can_start, "a rollback has made it final"
    write_plan(with_ids.fake, 4, f"{head}false\nfile offsets/4 - eA==\nstore 0 default\n{ref}")
    report = check(with_ids.fake)
    assert report.verdict.command == f"keyfold rescale {with_ids.fake.root} --undo --apply"
    write_plan(with_ids.fake, 4, f"{head}true\nfile offsets/4 - eA==\nstore 0 default\n{ref}")
    assert check(with_ids.fake).verdict.can_start


@pytest.mark.parametrize(
    "text", ["", "keyfold-rescale 1\n", "keyfold-rescale 1\ncrc32c 00000000\n"]
)
def test_plan_of_a_rescale_is_torn(with_ids: StateWriter, text: str) -> None:
    path = with_ids.fake.write("keyfold/rescale-4-open-1.plan", text)
    report = check(with_ids.fake)
    assert report.verdict.can_start
    (found,) = (it for it in report.findings if it.path == str(path))
    assert found.severity is Severity.LOSES
    assert "delete the file" in found.message


def test_torn_plan_of_another_kind_hides_no_unfinished_rescale(with_ids: StateWriter) -> None:
    """A start reads the plans before an open batch, and not those of rescales with a batch."""
    fake = with_ids.fake
    fake.start(5)
    old = base64.b64encode(fake.root.joinpath("offsets/4").read_bytes()).decode()
    head = "keyfold-rescale 1\nbatch 5\nid open-1\nfrom 2\nto 3\nundone false\n"
    path = write_plan(fake, 5, f"{head}file offsets/4 {old} eA==\n")
    fake.write("keyfold/rescale-5-0b9c2f1a.plan", "torn")
    report = check(fake)
    assert (Kind.UNFINISHED, str(path)) in stops(report)
    assert report.verdict.command == f"keyfold rescale {fake.root} --undo --apply"


def test_plan_of_a_newer_release_needs_that_release(with_ids: StateWriter) -> None:
    path = write_plan(with_ids.fake, 4, "keyfold-rescale 2\nanything\n")
    report = check(with_ids.fake)
    assert [(it.kind, it.path) for it in report.findings] == [(Kind.NEWER_FORMAT, str(path))]
    assert "delete" not in str(report)


def test_rescale_that_broke_off_is_not_gone_back_to(with_ids: StateWriter) -> None:
    """Its plan is lost: batch 3 has two numbers of partitions."""
    fake = with_ids.fake
    entry = fake.root / "offsets/3"
    entry.write_bytes(entry.read_bytes().replace(b'partitions": "2"', b'partitions": "3"'))
    with_ids.path(5).unlink()
    assert str(check(fake)).splitlines()[-1] == rollback(fake, 2)


def test_redistribution_of_an_operator_stops_nothing(with_ids: StateWriter) -> None:
    """It changes one file: it was done, or it was not."""
    fake = with_ids.fake
    entry = base64.b64encode(fake.root.joinpath("commits/4").read_bytes()).decode()
    for batch, file in ((4, f"commits/3 - {entry}"), (5, f"commits/4 {entry} {entry}")):
        head = f"keyfold-rescale 1\nbatch {batch}\nid open-1\nfrom 2\nto 2\nundone false\n"
        text = f"{head}file {file}\nstore 0 default\n"
        write_plan(fake, batch, text)
    assert check(fake).verdict.can_start
    fake.start(5)
    assert check(fake).verdict.can_start


def test_two_uses_of_one_source_of_files(with_ids: StateWriter) -> None:
    """Spark has an offset for each use, and a folder for each source."""
    fake = with_ids.fake
    for batch in range(5):
        entry = fake.root / f"offsets/{batch}"
        version, metadata, _ = entry.read_text().splitlines()
        use = f'{{"logOffset":{batch}}}'
        entry.write_text(f"{version}\n{metadata}\n{use}\n{use}")
        fake.write(f"sources/0/{batch}", f'v1\n{{"path":"file:///in/{batch}","batchId":{batch}}}')
    assert check(fake).verdict.can_start


@pytest.mark.parametrize("ids", [True, False])
def test_state_after_a_migration_is_damaged(fake: FakeCheckpoint, ids: bool) -> None:  # noqa: FBT001
    fake.provider = HDFS
    fake.run(0, 1)
    fake.provider = PROVIDER_CLASS
    writer = StateWriter(fake, ids=ids)
    writer.batch_number = 1
    writer.batch({1: 1})
    writer.path(3).unlink()
    undo = f"keyfold migrate {fake.root} --undo --apply"
    assert str(check(fake)).splitlines()[-1] == undo
    fake.start(3)
    assert str(check(fake)).splitlines()[-1] == undo
    fake.commit(3, {0: [["a"], ["b"]]} if ids else None)
    assert str(check(fake)).endswith("no batch is left to go back to.")


@pytest.mark.parametrize("path", ["state/0/_metadata/metadata", "state/0/0/_metadata/schema"])
def test_file_that_spark_writes_again(writer: StateWriter, path: str) -> None:
    lose(writer.fake, path)
    report = keyfold.open_checkpoint(writer.fake.root).fsck(deep=True)
    assert [(it.path, it.severity) for it in report.findings] == [
        (f"{writer.fake.root}/{path}", Severity.HARMLESS)
    ]
    assert report.verdict.can_start
    # Its state is looked at all the same.
    writer.path(5).unlink()
    assert str(check(writer.fake)).splitlines()[-1] == rollback(writer.fake, 3)


@pytest.mark.parametrize(
    "path", ["state/0/_metadata/{}metadata{}", "state/0/0/_metadata/{}schema{}"]
)
def test_checksum_that_keeps_spark_from_writing_a_file_again(
    with_ids: StateWriter, path: str
) -> None:
    lose(with_ids.fake, path.format("", ""))
    left = with_ids.fake.write(path.format(".", ".crc"), b"")
    report = check(with_ids.fake)
    assert not report.verdict.can_start
    assert str(report).splitlines()[-2:] == [str(left), "Then start the query."]


def test_stores_of_an_operator_whose_description_is_lost(fake: FakeCheckpoint) -> None:
    stores = ("left-a", "right-a")
    fake.run(0)
    fake.commit(0, {0: [["l0", "r0"], ["l1", "r1"]]})
    for partition in range(2):
        for store in stores:
            fake.state(1, partition=partition, store=store, id=f"{store[0]}{partition}")
    report = check(fake)
    assert {it.severity for it in report.findings} == {Severity.HARMLESS}
    assert report.files == 4
    lose(fake, "state/0/1/right-a/1_r1.delta")
    lost = f"{fake.root}/state/0/1/right-a/1_r1.delta"
    assert stops(check(fake)) == [(Kind.DAMAGED, lost)]


def test_empty_schema_stops_the_query_and_is_written_again(writer: StateWriter) -> None:
    path = writer.fake.write("state/0/0/_metadata/schema", b"")
    report = check(writer.fake)
    assert stops(report) == [(Kind.DAMAGED, str(path))]
    assert str(report).splitlines()[-2:] == [str(path), "Then start the query."]
    writer.path(5).unlink()
    said = str(check(writer.fake)).splitlines()
    assert said[-3] == str(path)
    assert said[-1] == rollback(writer.fake, 3)


def test_folder_of_an_operator_is_needed_although_its_description_and_state_are_lost(
    with_ids: StateWriter,
) -> None:
    state = with_ids.fake.root / "state"
    state.rename(with_ids.fake.root / "gone")
    assert not check(with_ids.fake).verdict.can_start


def test_manifest_protects_the_files_of_the_old_layout_when_the_plan_is_lost(
    with_ids: StateWriter,
) -> None:
    """No batch names them: the new layout has files of the same version, which refer to them."""
    old = with_ids.fake.state(5, id="old")
    assert [it.path for it in check(with_ids.fake).findings] == [str(old)]
    with_ids.fake.write("keyfold/rescale-4-open-1.manifest", b"")
    assert check(with_ids.fake).findings == ()
    newer = with_ids.fake.write("state/0/0/9_newer.delta", b"")
    assert [it.path for it in check(with_ids.fake).findings] == [str(newer)]


@pytest.mark.parametrize("content", [None, "", '{"id":"4', "[]"])
def test_id_of_the_query_is_lost(with_ids: StateWriter, content: str | None) -> None:
    path = with_ids.fake.root / "metadata"
    path.unlink()
    if content is not None:
        path.write_text(content, encoding="utf-8")
    report = check(with_ids.fake)
    assert stops(report) == [(Kind.DAMAGED, str(path))]
    assert report.verdict.deletes == (() if content is None else (str(path),))
    setting = "spark.sql.streaming.checkpoint.verifyMetadataExists.enabled=false"
    assert f"et {setting} for the next start, and start the query." in str(report)


def test_id_of_the_query_and_a_file_are_lost(with_ids: StateWriter) -> None:
    (with_ids.fake.root / "metadata").unlink()
    with_ids.path(5).unlink()
    said = str(check(with_ids.fake))
    assert "=false for the next start, and go back to batch 3" in said
    assert said.splitlines()[-1] == rollback(with_ids.fake, 3)


def test_description_without_the_id_of_the_query(with_ids: StateWriter) -> None:
    (with_ids.fake.root / "metadata").unlink()
    checkpoint = keyfold.open_checkpoint(with_ids.fake.root)
    assert checkpoint.query_id is None
    assert "not known: see `keyfold fsck`" in str(checkpoint.describe())


def test_sink_is_asked_for(with_ids: StateWriter) -> None:
    with_ids.path(5).unlink()
    said = str(check(with_ids.fake))
    assert "If it is a file sink, add --sink-path with its folder:" in said
    assert said.splitlines()[-1] == rollback(with_ids.fake, 3)


def test_earlier_commit_is_cut_after_its_version(with_ids: StateWriter) -> None:
    with_ids.fake.write("commits/2", "v2\n")
    report = check(with_ids.fake)
    assert report.verdict.can_start
    assert "the entry ends after its version" in str(report)


@pytest.mark.parametrize("name", ["a%20b", "100%", "a#b", "a?b", "a:b", "a b"])
def test_names_in_a_path_are_taken_as_hadoop_writes_them(tmp_path: Path, name: str) -> None:
    path = tmp_path / name / "state"
    path.parent.mkdir()
    path.touch()
    assert is_same_location(str(path), f"file:{path}")
    assert is_same_location(f"file://{path}", f"file:{path}")
    assert not is_lost(str(path), f"file:{path}")
    assert is_same_location(f"hdfs://node:8020/{name}/x", f"hdfs:/{name}/x")


def test_a_moved_checkpoint_whose_schemas_spark_reads_at_the_old_place(
    with_ids: StateWriter, tmp_path: Path
) -> None:
    fake = with_ids.fake
    metadata = fake.operator_v2(0, partitions=fake.partitions)
    content = json.loads(metadata.read_text().split("\n", 1)[1])
    variables = [{"stateName": "count", "stateVariableType": "ValueState"}]
    content["operatorPropertiesJson"] = json.dumps({"stateVariables": variables})
    written = (fake.root / "state/0/0/_metadata/schema").read_bytes()
    schema = fake.write("state/0/_stateSchema/default/0_a", written)

    def read_at(path: Path) -> list[Severity]:
        content["stateStoreInfo"][0]["stateSchemaFilePaths"] = [f"file:{path}"]
        metadata.write_text("v2\n" + json.dumps(content))
        report = check(fake)
        assert all("keyfold clone" in it.message for it in report.findings)
        assert report.verdict.can_start == (schema.exists() and path.exists())
        return [it.severity for it in report.findings]

    assert read_at(schema) == []
    link = tmp_path / "link"
    link.symlink_to(fake.root)
    assert read_at(link / schema.relative_to(fake.root)) == []
    copy = tmp_path / "copy"
    shutil.copytree(fake.root, copy)
    assert read_at(copy / schema.relative_to(fake.root)) == [Severity.HARMLESS]
    shutil.rmtree(copy)
    assert read_at(copy / schema.relative_to(fake.root)) == [Severity.STOPS]


def test_last_batch_is_of_a_newer_release(with_ids: StateWriter) -> None:
    """No copy helps, and going back would throw away a good batch."""
    path = with_ids.path(max(it for it in range(1, 9) if with_ids.path(it).exists()))
    content = bytearray(path.read_bytes())
    content[4] = content[-14] = 2
    path.write_bytes(content)
    assert "Use that release, or go back to batch" in str(check(with_ids.fake))
