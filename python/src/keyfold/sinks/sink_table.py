"""The table that a query writes to, and how it goes back to a batch."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from keyfold.sinks.table_log import TableVersion

_MOST_NAMED = 8
_NOT_ENFORCED = (
    "spark.databricks.delta.vacuum.enforceTimeTravelWithinDeletedFileRetentionDuration=false"
)
_OR_TWICE = ", or each row of the later batches comes twice"


@dataclass(frozen=True, kw_only=True)
class SinkTable:
    """A Delta or Iceberg table, and its version as of the batch that a query goes back to.

    In Iceberg, a version is the id of a snapshot.

    Attributes:
        format: `delta` or `iceberg`.
        path: its folder.
        newest: its newest version; None if it has none.
        batch: the batch that `version` has: the one that was asked for, or the newest before it
            that has a version.
        version: the version as of the batch; None if it is not known.
        later: the versions of later batches, oldest first.
        others: versions since `version` that were not written by the query.
        kept: those between the batch and the first later one, or the end: they stay.
        replaces: whether each later batch has replaced all rows, as in complete mode.
        query: id of the query.
        rolled_back: whether the query has a new id since it wrote `later`.
        known: whether the query has written to the table, under this id or an earlier one.
        applications: if it has not, the newest batch of each query id in the table; in Delta of
            each application id, which a `foreachBatch` may choose as `txnAppId`.
        restore: the SQL that takes the table back to `version`; None if no later batch has a
            version, or `version` is not known.
        undo: the SQL that takes the table forward again after that.
        branches: in Iceberg by name of each other branch than main the batches of the query that
            main lacks.
        behind: the batches of the query until the one that was asked for which the table lacks,
            since it was taken back behind them.
        forward: the SQL that takes the table forward to the last of these; None if there is none,
            or its version is lost, or is not these batches and no others.
        strangers: the ids of others whose batches going there would bring back, or take away.
        outdated: versions of this SQL that Delta 4.1 and later do not restore unless they are told
            to: the table need not keep their files any more.
    """

    format: str
    path: str
    newest: int | None
    batch: int | None
    version: int | None
    later: tuple[int, ...]
    others: tuple[TableVersion, ...]
    kept: tuple[TableVersion, ...]
    replaces: bool
    query: str
    rolled_back: bool
    known: bool
    applications: dict[str, int]
    restore: str | None
    undo: str | None
    branches: dict[str, tuple[int, ...]]
    behind: tuple[int, ...]
    forward: str | None
    strangers: tuple[str, ...]
    outdated: tuple[int, ...]

    def rows(self) -> Iterator[tuple[str, str]]:
        """Labels and texts for a terminal."""
        where = f"{self.format.capitalize()}, {self.path}"
        if self.version is None:
            yield "table", f"{where}: newest {self._noun} {self.newest}"
        else:
            yield "table", f"{where}: batch {self.batch} is {self._noun} {self.version}"
        if self.later:
            yield "", f"later batches have written {_named(self._noun, map(str, self.later))}"
        if self.restore:
            yield "to restore", self.restore
        if self.undo:
            yield "", f"to take it forward again: {self.undo}"

    def warnings(self, batch: int) -> Iterator[str]:
        """What to know before the query runs on from a batch, under a new id."""
        yield from self._way_back(batch) if self.known else self._of_others(batch)
        if self.behind:
            yield self._lost(batch)
        elif self.batch is not None and self.batch != batch:
            yield (
                f"the table has no {self._noun} of batch {batch}; that of batch {self.batch} is "
                "the newest before it"
            )
        for name, its in self.branches.items():
            yield (
                f"the table's branch {name} has {_span(its)} of this query, which main lacks: if "
                f"the query writes to it, take it back to batch {batch} yourself{_OR_TWICE}"
            )
        if self.restore:
            yield from self._beside()
        if self.outdated:
            yield (
                f"{_named(self._noun, map(str, self.outdated))}: older than the table has to keep "
                "deleted files (delta.deletedFileRetentionDuration, a week by default), so Delta "
                "4.1 and later refuse the SQL. If no VACUUM has run since, the files are there: "
                f"run `SET {_NOT_ENFORCED}` first, or give the table a longer "
                "delta.deletedFileRetentionDuration"
            )

    def _way_back(self, batch: int) -> Iterator[str]:
        if self.version is None:
            if self.behind:
                return
            yield (
                f"the table's log has no {self._noun} of batch {batch} or before that can be "
                f"restored: take the table back yourself{'' if self.replaces else _OR_TWICE}"
            )
        elif not self.later:
            # Of the query, if its id is not known to the checkpoint.
            later = {app for it in self.kept for app in it.batches if it.batches[app] > batch}
            if not (self.behind or later or self.branches):
                yield f"the table has no {self._noun} of a later batch: there is nothing to restore"
            yield from map(self._of_id, sorted(later))
            if left := self._by_others([it for it in self.kept if not it.batches]):
                yield (
                    f"not written under an id of this query, and left: {left}. If its foreachBatch "
                    f"wrote them, take them back yourself{_OR_TWICE}"
                )
        elif self.replaces:
            yield (
                "each batch replaces all rows of the table: without `to restore`, readers see the "
                "result of a later batch until the query has run one"
            )
        else:
            yield (
                "the query has a new id then, so the table does not recognise the batches that run "
                f"again: run `to restore` before the query starts{_OR_TWICE}"
            )

    def _beside(self) -> Iterator[str]:
        if stays := self._by_others(self.kept):
            yield (
                f"{self._noun} {self.version} also has what others wrote after batch {self.batch}: "
                f"{stays}, which stays"
            )
        if lost := self._by_others(self.others):
            yield f"not written by this query, and taken back as well: {lost}"
        if any(it.batches for it in self.others):
            yield (
                "some of these are of other queries, which must go back too or lose rows: make "
                "their plans after `to restore` was run"
            )
        elif any(it.batches for it in self.kept):
            yield (
                "other queries write to the table, and what they wrote stays: if one goes back "
                "too, make its plan after `to restore` was run"
            )

    def _of_id(self, app: str) -> str:
        its = [it for it in self.kept if app in it.batches]
        versions = _named(self._noun, (str(it.version) for it in its))
        return (
            f"written under id {app}, and left: {versions} "
            f"({_span([it.batches[app] for it in its])}). If they are of this query (of its "
            "foreachBatch, or since a rollback that this checkpoint, as an older copy, does not "
            "know), take them back too"
            f"{'' if all(it.replaces for it in its) else _OR_TWICE}"
        )

    def _by_others(self, versions: Iterable[TableVersion]) -> str:
        """Without those that only restored what was there before."""
        names = [
            f"{it.version} ({it.operation or 'unknown'})" for it in versions if it.restores is None
        ]
        return _named(self._noun, iter(names)) if names else ""

    def _lost(self, batch: int) -> str:
        since = any(it.restores is None for it in (*self.kept, *self.others))
        loses = ", which loses what others have written since" if since else ""
        instead = "instead of `to restore` " if self.restore else ""
        ways, has = [], self.batch
        if has is not None:
            ways.append(f"go back to batch {has} instead (--to-batch {has}, of a clone --batch)")
        if not (ways and self.strangers):
            ways.append(
                f"take the table forward {'' if self.forward else 'yourself '}{instead}before the "
                f"query starts{loses}"
            )
        but = self.forward
        if self.strangers:
            but = (
                "going forward would bring back or lose batches of other queries "
                f"({_named('id', iter(self.strangers))})"
            )
        return (
            f"the table was taken back behind batch {batch}: it lacks {_span(self.behind)} of this "
            f"query, which do not run again. Unless somebody wanted that, {', or '.join(ways)}"
            f"{f': {but}' if but else ''}"
        )

    def _of_others(self, batch: int) -> Iterator[str]:
        its = (f"{app} (newest batch {number})" for app, number in self.applications.items())
        has = _named("id", its) if self.applications else "no id of a query"
        branch, forgets = "", "delta.setTransactionRetentionDuration"
        if self.format == "iceberg":
            branch, forgets = "'s branch main", "expire_snapshots"
        yield (
            f"no {self._noun} of the table{branch} is of this query, {self.query}: its log "
            f"has {has}. If it is the table of another query, give the right one. If the query "
            f"writes to it by foreachBatch, or the table has forgotten the id ({forgets}), take it "
            f"back to batch {batch} yourself{_OR_TWICE}"
        )
        if self.applications and self.format == "delta":
            yield (
                "if one of these ids is the txnAppId of the query's foreachBatch, give it another "
                "one: Delta skips what is not newer than the last txnVersion of an id, even after "
                "RESTORE, so the rows of the batches that run again would be lost"
            )

    @property
    def _noun(self) -> str:
        return "snapshot" if self.format == "iceberg" else "version"


def _span(batches: Collection[int]) -> str:
    first, last = min(batches), max(batches)
    return f"batch {first}" if first == last else f"batches {first} to {last}"


def _named(noun: str, names: Iterator[str]) -> str:
    """The first and the last of many."""
    found = list(names)
    if len(found) > _MOST_NAMED:
        return f"{len(found)} {noun}s, {found[0]} to {found[-1]}"
    return f"{noun}{'s' if len(found) > 1 else ''} {', '.join(found)}"
