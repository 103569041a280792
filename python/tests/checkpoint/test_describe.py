from __future__ import annotations

import json

import keyfold
from keyfold.describe.values import OperatorDescription
from keyfold.settings import PROVIDER_CLASS
from kit.fake_checkpoint import QUERY, FakeCheckpoint
from kit.golden.spec import family, link
from kit.state_writer import StateWriter


def only(fake: FakeCheckpoint) -> OperatorDescription:
    """The only operator of a checkpoint in order."""
    description = keyfold.open_checkpoint(fake.root).describe()
    assert description.problems == ()
    (operator,) = description.operators
    return operator


def loadable(operator: OperatorDescription) -> tuple[int | None, int | None]:
    return operator.oldest_loadable_version, operator.newest_loadable_version


def counted(rows: int) -> list[dict[str, object]]:
    return [family(0, "default", rows, rows * 32)]


def test_everything_of_a_small_checkpoint(fake: FakeCheckpoint) -> None:
    fake.run(5, 6)
    fake.operator()
    sizes = 0
    for partition, rows in ((0, 10), (1, 30)):
        for version, kind in ((6, "delta"), (6, "snapshot"), (7, "delta")):
            path = fake.state(version, kind, partition=partition, families=counted(rows))
            sizes += path.stat().st_size
    found = keyfold.open_checkpoint(fake.root).describe().to_dict()
    assert json.loads(json.dumps(found)) == {
        "path": str(fake.root),
        "query_id": QUERY,
        "provider": PROVIDER_CLASS,
        "last_batch": 6,
        "last_batch_ms": 1700000006000,
        "oldest_batch": 5,
        "oldest_batch_ms": 1700000005000,
        "operators": [
            {
                "id": 0,
                "name": "stateStoreSave",
                "partitions": 2,
                "key_groups": 12,
                "latest_version": 7,
                "oldest_loadable_version": 6,
                "newest_loadable_version": 7,
                "stores": [
                    {
                        "name": "default",
                        "rows": 40,
                        "min_partition_rows": 10,
                        "max_partition_rows": 30,
                        "live_bytes": 1280,
                        "disk_bytes": sizes,
                        "deltas": 4,
                        "merged_deltas": 0,
                        "snapshots": 2,
                        "references": 0,
                        "families": [
                            {
                                "name": "default",
                                "internal": False,
                                "strays": False,
                                "rows": 40,
                                "values": 40,
                                "live_bytes": 1280,
                            }
                        ],
                    }
                ],
            }
        ],
        "problems": [],
        "earlier_batches": None,
        "totals": {"rows": 40, "live_bytes": 1280, "disk_bytes": sizes},
    }


def test_merged_deltas_are_counted_where_there_are_any(fake: FakeCheckpoint) -> None:
    writer = StateWriter(fake)
    for number in range(4):
        writer.batch({number: number}, snapshots=number == 0)
    heading = str(keyfold.open_checkpoint(fake.root).describe()).splitlines()[-2]
    assert heading.split()[-2:] == ["deltas", "snaps"]
    for base in (1, 2):
        writer.merge(base, 0, named=False)
    found = keyfold.open_checkpoint(fake.root).describe()
    (store,) = found.operators[0].stores
    assert (store.deltas, store.merged_deltas, store.snapshots) == (8, 2, 2)
    heading, row = str(found).splitlines()[-2:]
    assert heading.split()[-3:] == ["deltas", "merged", "snaps"]
    assert row.split()[-3:] == ["8", "2", "2"]


def test_named_stores_and_families(fake: FakeCheckpoint) -> None:
    fake.run(0)
    fake.operator(3, "join", ("left", "right"))
    families = [
        family(0, "default", 4, 100),
        family(1, "index", 50, 900, internal=True),
        family(2, "list", 6, 200, multiValue=True, values=9),
    ]
    for partition in (0, 1):
        for store in ("left", "right"):
            where = {"operator": 3, "store": store, "partition": partition}
            fake.state(1, families=families if store == "right" else counted(1), **where)
    left, right = only(fake).stores
    assert (left.name, left.rows) == ("left", 2)
    assert (right.name, right.rows, right.live_bytes) == ("right", 20, 2400)
    assert [(it.name, it.internal, it.rows, it.values) for it in right.families] == [
        ("default", False, 8, 8),
        ("index", True, 100, 100),
        ("list", False, 12, 18),
    ]


def test_nothing_committed(fake: FakeCheckpoint) -> None:
    fake.start(0)
    fake.operator()
    fake.state(1)
    operator = only(fake)
    assert (operator.partitions, operator.key_groups, operator.latest_version) == (2, None, None)
    assert operator.stores[0].rows == 0
    assert "nothing committed yet" in str(keyfold.open_checkpoint(fake.root).describe())


def test_time_is_that_of_the_committed_batch(fake: FakeCheckpoint) -> None:
    fake.run(0, 1)
    fake.start(2)
    found = keyfold.open_checkpoint(fake.root).describe()
    assert (found.last_batch, found.last_batch_ms) == (1, 1700000001000)


def test_query_that_never_started(fake: FakeCheckpoint) -> None:
    found = keyfold.open_checkpoint(fake.root).describe()
    assert (found.provider, found.last_batch, found.oldest_batch) == (None, None, None)
    assert (found.operators, found.problems) == ((), ())
    assert "none committed yet" in str(found)


def test_constant_families_live_in_partition_0_alone(fake: FakeCheckpoint) -> None:
    fake.run(0)
    fake.operator()
    fake.state(1, families=[family(0, "default", 1, 8, partitionKey="constant")])
    operator = only(fake)
    assert operator.partitions == 1
    assert operator.rows == 1


def test_query_that_began_with_one_partition_and_was_rescaled(fake: FakeCheckpoint) -> None:
    fake.operator(partitions=1)
    fake.run(0)
    for partition in (0, 1):
        fake.state(1, "reference", partition=partition)
    operator = only(fake)
    assert (operator.partitions, operator.rows) == (2, 20)


def test_rescaled_operator_has_the_partitions_of_the_offset_log(fake: FakeCheckpoint) -> None:
    fake.start(0, partitions=4)
    fake.commit(0)
    fake.operator(partitions=2)
    for partition in range(4):
        fake.state(1, "reference", partition=partition, partitions=4)
    operator = only(fake)
    assert operator.partitions == 4
    assert operator.stores[0].references == 4
    assert loadable(operator) == (1, 1)


def test_counts_that_a_reference_does_not_know(fake: FakeCheckpoint) -> None:
    fake.run(0)
    fake.operator()
    unknown = [family(0, "default", -1, -1)]
    fake.state(1, "reference", families=unknown)
    fake.state(1, "reference", partition=1)
    operator = only(fake)
    (store,) = operator.stores
    assert (operator.rows, store.rows, store.min_partition_rows, store.live_bytes) == (None,) * 4
    assert (store.families[0].rows, store.families[0].values) == (None, None)
    found = keyfold.open_checkpoint(fake.root).describe()
    assert (found.rows, found.live_bytes) == (None, None)
    assert "rows not known before the next batch" in str(found)


def test_versions_that_are_not_committed_are_left_out(fake: FakeCheckpoint) -> None:
    fake.run(0)
    fake.start(1)
    fake.operator()
    for partition in (0, 1):
        fake.state(1, partition=partition)
        fake.state(2, partition=partition, families=counted(99))
        fake.state(3, "snapshot", partition=partition)
    operator = only(fake)
    assert (operator.latest_version, operator.rows) == (1, 20)
    assert (operator.stores[0].deltas, operator.stores[0].snapshots) == (2, 0)


def test_oldest_version_is_the_one_that_all_partitions_have(fake: FakeCheckpoint) -> None:
    fake.run(*range(8))
    fake.operator()
    for version in range(1, 9):
        fake.state(version, partition=0)
    # Partition 1 lost its first deltas to retention: 3 and 4 have no base any more.
    for version in range(3, 9):
        fake.state(version, partition=1)
    fake.state(5, "snapshot", partition=1)
    assert loadable(only(fake)) == (5, 8)


def test_deltas_from_version_1_need_no_snapshot(fake: FakeCheckpoint) -> None:
    fake.run(0, 1, 2)
    fake.operator()
    for partition in (0, 1):
        for version in (1, 2, 3):
            fake.state(version, partition=partition)
    assert loadable(only(fake)) == (1, 3)


def test_ids_follow_the_lineage_and_leave_losers_out(fake: FakeCheckpoint) -> None:
    fake.start(5)
    fake.commit(5, {0: [["p0"], ["p1"]]})
    fake.operator()
    for partition, name in ((0, "p0"), (1, "p1")):
        here = {"partition": partition}
        fake.state(6, id=name, lineage=[link(5, "delta", "e"), link(4, "snapshot", "d")], **here)
        fake.state(6, id="loser", families=counted(77), **here)
        fake.state(5, id="e", **here)
        fake.state(4, "snapshot", id="d", lineage=[link(3, "delta", "c")], **here)
        fake.state(4, id="d", lineage=[link(3, "delta", "c")], **here)
        fake.state(3, id="other", **here)
        fake.state(3, id="c", **here)
        fake.state(2, "snapshot", id="b", **here)
    operator = only(fake)
    assert operator.rows == 20
    # The lineage of snapshot 4 ends at delta 3, whose base it does not name.
    assert loadable(operator) == (4, 6)
    for partition in (0, 1):
        longer = [link(3, "delta", "c"), link(2, "snapshot", "b")]
        fake.state(4, "snapshot", id="d", partition=partition, lineage=longer)
    assert loadable(only(fake)) == (2, 6)
