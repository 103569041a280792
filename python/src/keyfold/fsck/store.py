"""Checks the files of one store of one partition against the batches that need them."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, replace

from keyfold.errors import FileMissingError, KeyfoldError
from keyfold.format.footer import Footer, Identity
from keyfold.format.names import FileKind, FileName, StoreLocation, Version, original
from keyfold.format.reader import stream_columns
from keyfold.fsck.finding import Finding, Kind, Severity, kind_of
from keyfold.fsck.rows import RowCheck, misplaced
from keyfold.spark_log.batch import Batch
from keyfold.spark_log.logs import OperatorMetadata
from keyfold.state.chain import Chain, Step, chain_of
from keyfold.state.store_files import list_store
from keyfold.state.walk import is_in_partition_0_alone
from keyfold.storage.storage import Storage

# How often to check again because files were deleted meanwhile.
_TRIES = 5


@dataclass(frozen=True)
class Checked:
    """Findings in one store of one partition, and the files and bytes that were checked.

    `bad` has the batches that cannot be loaded there.
    """

    findings: tuple[Finding, ...]
    files: int
    bytes: int
    bad: tuple[int, ...]


@dataclass
class StoreCheck:
    """Checks one store of one partition. It can be pickled, and run in another process.

    Attributes:
        storage: the checkpoint.
        operator: the store's.
        store: its number in the operator.
        location: where it is.
        batches: the committed ones that it has a version of; not empty.
        rows: checks its rows too; None: they are not looked at.
    """

    storage: Storage
    operator: OperatorMetadata
    store: int
    location: StoreLocation
    batches: list[Batch]
    rows: RowCheck | None

    def run(self) -> Checked:
        """Runs all checks, and again while retention deletes files and others take their place."""
        for _ in range(_TRIES):
            self._run()
            if not self._is_outdated():
                break
        lacks = {it.number: self._lacks(it) for it in self.batches}
        self._listed.release()
        findings = tuple(replace(it, severity=self._severity(it, lacks)) for it in self._findings)
        bad = tuple(number for number, paths in lacks.items() if paths)
        return Checked(findings, self._files, self._bytes, bad)

    def _is_outdated(self) -> bool:
        """Whether there is damage, and the files are others by now: retention needs no new batch.

        One that is gone may have been a reference, and what is damaged one of the files that it
        refers to. A listing may also lack both a file that was deleted while it was made and the
        one that came in its place.
        """
        if not any(it.is_damage for it in self._findings):
            return False
        last = self.batches[-1].version
        now = list_store(self.storage, self.location, last, anew=True)
        return self._listed.sizes.keys() != now.sizes.keys()

    def _lacks(self, batch: Batch) -> frozenset[str]:
        """What stands in the way of loading a batch: paths of damaged files; empty if nothing does.

        A load takes other files in the place of those that it cannot use.
        """
        damaged = {it.path for it in self._findings if it.is_damage}
        if batch.version in self._strayed or self.location.folder in damaged:
            return frozenset(damaged)
        lacking: set[str] = set()
        try:
            while found := damaged & {it.path for it in self._files_of(batch, lacking).steps}:
                lacking |= found
        except KeyfoldError as error:
            if not lacking and self._is_alone_in_partition_0():
                return frozenset()
            return frozenset({*lacking, self._path_of(batch, error)})
        return frozenset()

    def _severity(self, it: Finding, lacks: dict[int, frozenset[str]]) -> Severity:
        if not it.is_damage:
            return Severity.HARMLESS
        if it.path in lacks[self.batches[-1].number]:
            return Severity.STOPS
        if any(it.path in paths for paths in lacks.values()):
            return Severity.LOSES
        return Severity.HARMLESS

    def _run(self) -> None:
        self._findings: list[Finding] = []
        # By kind and file: why batches cannot be loaded, and which.
        self._broken: dict[tuple[Kind, str], tuple[str, list[int]]] = {}
        self._files = 0
        self._bytes = 0
        newest = self.batches[-1]
        self._listed = list_store(self.storage, self.location, newest.version)
        self._listed.fetch(self._listed.sized(self._listed.sizes))
        needed: dict[Step, None] = {}
        heads: dict[int, Footer] = {}
        oldest = newest.version
        self._strayed = self._astray()
        for batch in self.batches:
            chain = None if batch.version in self._strayed else self._chain(batch)
            if chain is None:
                continue
            heads[chain.head.identity.version] = chain.head
            needed |= dict.fromkeys(chain.steps)
            oldest = min(oldest, chain.base)
        # Of older versions, retention may have deleted any file that no chain has.
        oldest = max(oldest, self._listed.oldest)
        self._lineages(heads, oldest)
        committed = self._committed(heads)
        for name in self._listed.sizes:
            if name.version < oldest or Step(self._path(name)) in needed:
                continue
            if Version(name.version, name.id) not in committed:
                self._find(
                    self._path(name),
                    "no retained batch needs it: an attempt at a batch has left it. Retention "
                    "deletes it once the retained batches need only newer files.",
                    Kind.UNREFERENCED,
                )
            elif name.kind is FileKind.SNAPSHOT and not self._listed.counts(name):
                self._find(
                    self._path(name),
                    "its delta was replaced later, as after a rollback, so it is not used. "
                    "Retention deletes it once it is older than the retained batches.",
                    Kind.EXPIRED,
                )
            else:
                needed[Step(self._path(name))] = None
        key_groups = next((it.identity.key_groups for it in reversed(heads.values())), None)
        self._listed.fetch((it.path, it.reference.length) for it in needed if it.reference)
        for step in needed:
            self._check(step, key_groups)
        self._report_broken()
        if self.rows is not None and not self._findings:
            for batch in {it.number: it for it in (self.batches[0], newest)}.values():
                self._check_rows(self.rows, batch)

    def _check_rows(self, rows: RowCheck, batch: Batch) -> None:
        try:
            for problem in rows.version(batch.number, self._written(batch), self._listed):
                self._find(self.location.folder, problem, Kind.WRONG_ROWS)
        except KeyfoldError as error:
            message = f"batch {batch.number} cannot be read: {error.args[0]}"
            self._find(self.location.folder, message)

    def _chain(self, batch: Batch) -> Chain | None:
        """The files of a batch's version; None, and a finding, if it cannot be loaded."""
        written = self._written(batch)
        try:
            chain = self._files_of(batch)
        except KeyfoldError as error:
            self._cannot_load(batch, written, error)
            return None
        kind = chain.head.frame.kind
        delta = FileName(*written, FileKind.DELTA)
        is_lost = delta not in self._listed.sizes and written.number >= self._listed.oldest
        if kind is FileKind.SNAPSHOT and chain.head.lineage and is_lost:
            self._find(
                self._path(delta),
                f"batch {written.number - 1} wrote it and it is missing; its snapshot can still be "
                "read. Restore it from a copy.",
            )
        return chain

    def _files_of(self, batch: Batch, without: Container[str] = ()) -> Chain:
        return chain_of(self._listed, self._written(batch), without)

    def _cannot_load(self, batch: Batch, written: Version, error: KeyfoldError) -> None:
        if self._is_alone_in_partition_0():
            return
        if isinstance(error, FileMissingError) and self._is_expired(batch, written):
            self._find(
                self._path(FileName(*written, FileKind.DELTA)),
                f"batch {batch.number} cannot be read any more: its files are gone, and a later "
                "snapshot or merged delta has what later batches need of them. Retention deletes "
                "so, and Spark the batch's log entries a little later. If those stay, something "
                "else deletes state files: a lifecycle rule of the store, or a job.",
                Kind.EXPIRED,
            )
            return
        what = (kind_of(error), self._path_of(batch, error))
        self._broken.setdefault(what, (str(error.args[0]), []))[1].append(batch.number)

    def _report_broken(self) -> None:
        """Each file once, with all batches that need it, unless its own check has found it."""
        known = {it.path for it in self._findings if it.is_damage}
        for (kind, path), (reason, numbers) in self._broken.items():
            if path in known:
                continue
            first, last = numbers[0], numbers[-1]
            of = f"batch {first} needs" if first == last else f"batches {first} to {last} need"
            self._findings.append(Finding(kind, path, f"{of} it. {reason}"))

    def _path_of(self, batch: Batch, error: KeyfoldError) -> str:
        """The file that an error is about; else the head of the batch."""
        path = error.path if isinstance(error, FileMissingError) else None
        return path or self._path(FileName(*self._written(batch), FileKind.DELTA))

    def _is_expired(self, batch: Batch, written: Version) -> bool:
        """Whether retention may have deleted it: it has kept a snapshot or merged delta instead.

        Spark deletes log entries on a thread of its own, which may lag behind. Retention keeps what
        the last batch and the one before it need, whatever the settings.
        """
        if batch.version >= self.batches[-1].version - 1:
            return False
        oldest = self._listed.oldest
        return written.number < oldest and any(
            it.version == oldest and it.kind.is_replaceable for it in self._listed.sizes
        )

    def _is_alone_in_partition_0(self) -> bool:
        """Whether the operator keeps everything in partition 0, so that this folder is empty."""
        if self.location.partition == 0 or self._listed.sizes:
            return False
        first = StoreLocation(self.location.operator, 0, self.location.store)
        newest = self.batches[-1]
        written = newest.written(self.operator, 0, self.store)
        try:
            head = list_store(self.storage, first, newest.version).head(written)
        except KeyfoldError:
            return False
        return is_in_partition_0_alone([head])

    def _written(self, batch: Batch) -> Version:
        return batch.written(self.operator, self.location.partition, self.store)

    def _astray(self) -> set[int]:
        """Versions whose lineage contradicts the commit log."""
        found: set[int] = set()
        earlier: list[tuple[Batch, Version]] = []
        for batch in self.batches:
            written = self._written(batch)
            if earlier and earlier[-1][1] == written:
                # Unchanged since the batch before it, whose files are its own.
                if earlier[-1][0].version in found:
                    found.add(batch.version)
            elif contradiction := self._contradiction(batch, written, earlier):
                found.add(batch.version)
                self._find(*contradiction)
            earlier.append((batch, written))
        return found

    def _contradiction(
        self, batch: Batch, written: Version, earlier: list[tuple[Batch, Version]]
    ) -> tuple[str, str] | None:
        """The path and the message of what a version's lineage and earlier batches disagree on."""
        try:
            head = self._listed.head(written)
        except KeyfoldError:
            return None
        for before, known in reversed(earlier):
            if original(written) == original(known):
                return None
            if written.number <= before.version:
                return f"commits/{batch.number}", (
                    f"partition {self.location.partition} goes back to version {written.number} "
                    f"with id {written.id!r}, but batch {before.number} before it has version "
                    f"{known.number} with id {known.id!r}. Restore the file from a copy."
                )
            # The version that has the rows of the one before, if the lineage goes so far.
            ancestors = (it for it in head.lineage if it.version <= before.version)
            link = next((Version(it.version, it.id) for it in ancestors), None)
            if link is None or original(known) == original(link) or self._refers_to(known, link):
                return None
            # A merged delta leaves open which version was there.
            if not any(it.replaces(before.version) for it in head.lineage):
                return self._path(head.name), (
                    f"it builds on version {link.number} with id {link.id!r}, but the commit "
                    f"log says version {known.number} with id {known.id!r} for batch "
                    f"{before.number}. Restore the partition's folder from a copy."
                )
        return None

    def _refers_to(self, known: Version, link: Version) -> bool:
        """Whether a rescale before an open batch has given a version new files for the same rows.

        A driver that did not know of it may have committed the batch, built on the old ones.
        """
        try:
            layers = self._listed.layers(self._listed.head(known))
        except KeyfoldError:
            return False
        return any(
            it.path.startswith(f"{self.location.folder}/") and (it.name.version, it.name.id) == link
            for layer in layers
            for partition in layer.members
            for it in partition.files
        )

    def _lineages(self, heads: dict[int, Footer], oldest: int) -> None:
        """Finds snapshots and merged deltas in lineages that neither exist nor have a substitute.

        Each is found once: of a clone, another merged delta of the same version may be there.
        """
        there = {Version(it.version, it.id) for it in self._listed.sizes if it.kind.is_replaceable}
        missing: dict[FileName, int] = {}
        for version, head in heads.items():
            for link in head.lineage:
                is_needed = link.kind.is_replaceable and link.version >= oldest
                if is_needed and Version(link.version, link.id) not in there:
                    missing.setdefault(link, version)
        for link, version in missing.items():
            self._find(
                self._path(link),
                f"version {version} was built on it. Without it a load needs more files, and "
                "takes longer, until a later one takes its place.",
            )

    def _committed(self, heads: dict[int, Footer]) -> set[Version]:
        """The batches' versions, those in their lineages, and those that these replace."""
        versions = {self._written(it) for it in self.batches}
        for head in heads.values():
            versions |= {Version(link.version, link.id) for link in head.lineage}
        return versions | {original(it) for it in versions}

    def _check(self, step: Step, key_groups: int | None) -> None:
        """Checks a file: its footer, every block, and that its rows are where they belong."""
        self._files += 1
        try:
            with self._listed.open(step.path) as file:
                self._bytes += file.size
                footer, blocks = stream_columns(file)
                step.check(self._listed, footer, key_groups or footer.identity.key_groups)
                if step.reference is None:
                    self._check_partitions(step.path, footer.identity)
                for columns in blocks:
                    problems = [*misplaced(footer, columns)]
                    problems += self.rows.block(columns) if self.rows else []
                    for problem in problems:
                        self._find(step.path, problem, Kind.WRONG_ROWS)
        except KeyfoldError as error:
            self._find(step.path, str(error.args[0]), kind_of(error))

    def _check_partitions(self, path: str, identity: Identity) -> None:
        """Checks the number of partitions that a file was written for, if its batch is known."""
        batch = next((it for it in self.batches if it.version == identity.version), None)
        expected = batch and batch.shuffle_partitions
        if expected and identity.partitions and identity.partitions != expected:
            self._find(
                path,
                f"it was written for {identity.partitions} partitions and the query had "
                f"{expected}: a rescale is unfinished, or it is of another checkpoint.",
            )

    def _path(self, name: FileName) -> str:
        return f"{self.location.folder}/{name}"

    def _find(self, path: str, message: str, kind: Kind = Kind.DAMAGED) -> None:
        self._findings.append(Finding(kind, path, message))
