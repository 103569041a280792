"""What executors say of themselves, and what the check of a set-up makes of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from keyfold.setup.facts import ExecutorFacts, Folder, Jar, Memory
from keyfold.setup.report import SetupFinding, SetupReport
from keyfold.setup.resources import local_disk, memory

MiB = 1 << 20
GiB = 1 << 30
JAR = Jar("4.2", "0.1.0")
# A heap of 4 GiB in a machine of 16 GiB, whatever the cluster manager.
FREE = Memory(
    budget=GiB,
    budget_set=None,
    heap=4 * GiB,
    beside_heap=100 * MiB,
    off_heap=None,
    overhead=None,
    machine=16 * GiB,
)
LIMITED = replace(FREE, overhead=2 * GiB)
DISK = Folder("/data", free=GiB, kind="ext4")


def executor(number: int, its: Memory = FREE, host: str = "a", *folders: Folder) -> ExecutorFacts:
    return ExecutorFacts(str(number), host, JAR, its, folders)


def test_a_budget_that_fits_beside_the_heap_is_right() -> None:
    found = memory([executor(0, LIMITED), executor(1, replace(LIMITED, budget=GiB // 2))])
    assert found.ok
    assert "budget 512.0 MiB to 1.0 GiB" in found.value


@pytest.mark.parametrize(("budget", "fits"), [(1948, True), (1949, False)])
def test_budget_and_what_the_jvm_has_taken_must_fit_into_the_overhead(
    budget: int, *, fits: bool
) -> None:
    its = replace(LIMITED, budget=budget * MiB, budget_set=budget * MiB)
    found = memory([executor(0, LIMITED), executor(1, its)])
    assert found.ok == fits
    if not fits:
        assert found.value.startswith("executor 1: a budget of 1.9 GiB")
        assert found.remedy is not None
        # A tenth of the heap, of which the JVM will take more than it has by now.
        assert "spark.executor.memoryOverhead to 2359m" in found.remedy


@pytest.mark.parametrize(
    ("heap", "budget", "said"),
    [
        (GiB, 1664, "384.0 MiB left for the JVM and Python"),
        (GiB, 1665, "Python, less than the 384.0 MiB that are advised"),
        (4 * GiB, 1638, "410.0 MiB left for the JVM and Python"),
        (4 * GiB, 1639, "Python, less than the 409.6 MiB that are advised"),
    ],
)
def test_a_budget_that_leaves_less_than_is_advised_is_not_wrong(
    heap: int, budget: int, said: str
) -> None:
    its = replace(LIMITED, heap=heap, budget=budget * MiB, budget_set=budget * MiB)
    found = memory([executor(0, its)])
    assert found.ok
    assert found.value.endswith(said)


def test_executors_of_one_machine_must_fit_into_it_together() -> None:
    three = [executor(number) for number in range(3)]
    assert memory(three).ok
    crowd = [*three, executor(3)]
    found = memory(crowd)
    assert found.value.startswith("executors 0, 1, 2, 3 on a: ")
    assert found.value.endswith("together up to 20.4 GiB")
    assert memory([*three, executor(3, FREE, "b")]).ok


def test_each_container_is_looked_at_by_itself() -> None:
    crowd = [executor(number, LIMITED) for number in range(4)]
    assert memory(crowd).ok
    small = replace(LIMITED, machine=5 * GiB)
    assert memory([*crowd, executor(4, small)]).value.startswith("executor 4 on a: ")


def test_memory_that_spark_takes_off_the_heap_counts() -> None:
    assert memory([executor(0, replace(FREE, off_heap=10 * GiB))]).ok
    assert not memory([executor(0, replace(FREE, off_heap=11 * GiB))]).ok


def test_a_budget_that_came_too_late_is_said() -> None:
    late = [executor(0, replace(FREE, budget_set=2 * GiB)), executor(1)]
    found = memory(late)
    assert found.value == "executor 0: the budget is 1.0 GiB, not the 2.0 GiB that are set"
    assert memory([executor(0, replace(FREE, budget_set=GiB))]).ok


@pytest.mark.parametrize(
    ("folder", "said"),
    [
        (Folder("/gone", problem="NoSuchFileException: /gone"), "/gone cannot be written: NoSuch"),
        (Folder("/shm", free=GiB, kind="tmpfs"), "/shm is in memory (tmpfs)"),
        (Folder("/full", free=16 * MiB - 1, kind="ext4"), "/full has 16.0 MiB free"),
    ],
)
def test_a_folder_that_cannot_take_state_is_named_with_its_executor(
    folder: Folder, said: str
) -> None:
    found = local_disk([executor(0, FREE, "a", DISK), executor(1, FREE, "b", DISK, folder)])
    assert found.value.startswith(f"executor 1 on b: {said}")
    assert local_disk([executor(0, FREE, "a", DISK, Folder("/b", 16 * MiB, "xfs"))]).ok


def test_folders_that_do_not_show_their_free_space_are_right() -> None:
    found = local_disk([executor(0, FREE, "a", Folder("/data"))])
    assert found.ok
    assert found.value == "can be written; its free space is not known"


def test_an_executor_without_any_local_folder_is_named() -> None:
    found = local_disk([executor(0, FREE, "a", DISK), executor(1, FREE, "b")])
    assert found.value == "executor 1 on b: none of its folders could be created"


def test_a_report_shows_each_finding_and_what_to_change() -> None:
    right = SetupFinding("provider", "Keyfold's")
    wrong = SetupFinding("extension", "\x1b[31mnone", "Set it.")
    found = SetupReport((right, wrong), (executor(0, FREE, "a", DISK),))
    assert str(found).splitlines() == [
        "ok     provider            Keyfold's",
        "WRONG  extension           \\u001b[31mnone",
        "       to change           Set it.",
        "1 of 2 findings to change.",
    ]
    assert not found.ok
    assert found.to_dict()["findings"][1]["remedy"] == "Set it."
    assert found.to_dict()["executors"][0]["memory"]["heap"] == 4 * GiB
    assert SetupReport((right,), ()).ok
    assert "<td" in found._repr_html_()
    assert "Set it." in found._repr_html_()


def test_a_budget_that_nobody_has_set_is_not_called_wrong() -> None:
    its = replace(LIMITED, budget=1949 * MiB, budget_set=None)
    found = memory([executor(0, its)])
    assert found.ok
    assert found.value.endswith("; 99.0 MiB left for the JVM and Python")
