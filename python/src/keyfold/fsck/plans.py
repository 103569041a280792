"""The plans of rescales: docs/FORMAT.md, section 10."""

from __future__ import annotations

from keyfold.errors import FileMissingError, FormatVersionError
from keyfold.format.names import parse_name
from keyfold.format.plan import PlanName, RescalePlan, parse_plan_name, read_plan
from keyfold.fsck.finding import Finding, Kind, Obstacle, Severity
from keyfold.fsck.spark_logs import Logs
from keyfold.spark_log.logs import Commit
from keyfold.storage.storage import Storage
from keyfold.wire.cursor import MalformedError

_FOLDER = "keyfold"


class Plans:
    """The plans of a checkpoint.

    Attributes:
        findings: about plans that cannot be read; commands that need them are refused.
    """

    def __init__(self, storage: Storage) -> None:
        """Reads all of them."""
        self.findings: list[Finding] = []
        self._storage = storage
        self._plans: list[RescalePlan] = []
        self._unread: set[int] = set()
        names = (parse_plan_name(it.name) for it in storage.listing(_FOLDER))
        self._names = [it for it in names if it is not None]
        for name in self._names:
            if name.is_plan:
                self._read(name)

    def may_need(self, finding: Finding) -> bool:
        """Whether a rescale before an open batch may need what seems to be unreferenced.

        The new layout has files of the same version, and no batch names those of the old one, which
        it refers to. Maintenance deletes the plan with them. The manifest says the same if the plan
        is lost.
        """
        opened = (it.batch for it in self._names if it.number is not None)
        newest = max(opened, default=0)
        if finding.kind is not Kind.UNREFERENCED or newest == 0:
            return False
        last = finding.path.rpartition("/")[2]
        name = parse_name(last)
        return last.isdigit() if name is None else name.version <= newest

    def unfinished(self, logs: Logs) -> Obstacle | None:
        """A rescale before the batch that was begun last which is to be finished or undone."""
        if logs.newest in self._unread:
            # Nobody knows what it says. A start ignores all plans before the batch then, too.
            return None
        before = [it for it in self._plans if it.name.batch == logs.newest and self._counts(it)]
        if not before:
            return None
        plan = max(before, key=lambda it: it.name.number or 0)
        commit = next((it.commit for it in logs.committed if it.number == logs.newest), None)
        later = any(it.is_plan and it.batch == logs.newest + 1 for it in self._names)
        wrong = not later and _is_overtaken(plan, commit) if commit else self._is_half_done(plan)
        if not wrong:
            return None
        reason = f"a rescale before batch {logs.newest} is not finished"
        finish = "rescale to the same number of partitions again, to finish it"
        path = f"{_FOLDER}/{plan.name}"
        message = f"{reason}. To go on, {finish}."
        finding = Finding(Kind.UNFINISHED, path, message, Severity.STOPS)
        return Obstacle(reason, finding=finding, undoes_rescale=True, otherwise=finish)

    def _read(self, name: PlanName) -> None:
        path = f"{_FOLDER}/{name}"
        content = self._content(path)
        try:
            if content is not None:
                self._plans.append(read_plan(name, content))
        except (MalformedError, FormatVersionError) as error:
            if name.number is not None:
                self._unread.add(name.batch)
            message = f"the plan of a rescale cannot be read: {error}. Rescales and their undo are "
            if isinstance(error, FormatVersionError):
                kind = Kind.NEWER_FORMAT
                message += "refused. Use that release."
            else:
                kind = Kind.DAMAGED
                message += (
                    "refused. Restore it from a copy. Without one, if the query can start, delete "
                    "the file: then that rescale cannot be undone, and if the query has its old "
                    "number of partitions, it is to be rescaled again."
                )
            self.findings.append(Finding(kind, path, message, Severity.LOSES))

    def _counts(self, plan: RescalePlan) -> bool:
        """Whether it is a rescale that is not undone to the end.

        A rollback has made a plan without files final. A redistribution has nothing to finish.
        """
        is_rescale = bool(plan.files) and not plan.is_redistribution
        return is_rescale and (not plan.is_undone or self._is_half_done(plan))

    def _is_half_done(self, plan: RescalePlan) -> bool:
        """Whether a file of Spark's still has to be replaced."""
        return any(
            self._content(it.path) == (it.after if plan.is_undone else it.before)
            for it in plan.files
        )

    def _content(self, path: str) -> bytes | None:
        try:
            return self._storage.content(path)
        except FileMissingError:
            return None


def _is_overtaken(plan: RescalePlan, commit: Commit) -> bool:
    """Whether the batch was committed by a driver that did not know of the rescale."""
    return not plan.is_undone and any(
        len(commit.ids.get(it.operator, it.references)) != len(it.references) for it in plan.stores
    )
