"""The steps of the demo, one after the other."""

from collections.abc import Iterator
from contextlib import closing

from rich.console import Console

import keyfold
from demo import batch_log
from demo.batches import Batch
from demo.compare import Verdict
from demo.driver import Driver
from demo.ends import Ends
from demo.events import Event
from demo.kill import kill_within_batch
from demo.place import Place
from demo.queries import FILES_PER_BATCH, queries_of
from demo.record import LOOKING, STREAMING, Record, Rescaled
from demo.replay import replay
from demo.requests import taken, taken_when_done
from demo.session import KEYFOLD
from demo.stages import KILLED, planned_batches
from demo.ticker import Ticker
from demo.workspace import INPUTS, Workspace


class Run:
    """One run: replay, stream, rescale, kill, stream on, rescale again, compare."""

    def __init__(
        self, workspace: Workspace, place: Place, ends: Ends, provider: str, console: Console
    ) -> None:
        """Do nothing yet; `record` fills up as the steps are taken."""
        self.record = Record(provider, ends.source, ends.sink)
        self._queries = queries_of(provider)
        self._workspace = workspace
        self._place = place
        self._console = console
        self._stages = ends.source_in(workspace).stages
        self._arguments = ["--provider", provider, "--out", str(workspace.root)]
        self._arguments += ["--ends", ends.to_json()]

    def prepare(self) -> None:
        """Write the input."""
        self._say(
            "Replaying the flights, the weather and the limits of delays of 2013 as one file a day"
        )
        with self.record.timed("replay the input"):
            self.record.replayed = replay(*map(self._workspace.waiting, INPUTS))

    def stream_half(self) -> None:
        """Stream until half of all batches are done, then kill the driver within a batch."""
        self._say("Streaming, to be killed half way")
        with self.record.timed("stream until the kill"):
            self._stream(range(KILLED + 1), kill=True)
        for query in self._queries:
            batch = batch_log.unfinished(self._place.folder(query))
            self.record.killed_in[query] = batch
        hit = self.record.killed_in.items()
        within = ", ".join(f"{query} {batch}" for query, batch in hit if batch is not None)
        self._say(f"Killed the driver and its JVM within these batches: {within or 'none'}")
        self._describe()

    def stream_rest(self) -> None:
        """Stream until all input is read, from wherever the checkpoints say."""
        self._say("Streaming to the end")
        with self.record.timed("stream to the end"):
            begin = KILLED if self.record.killed_in else 0
            self._stream(range(begin, len(self._stages)), kill=False)
        for query in self._queries:
            checkpoint = self._place.folder(query)
            self.record.finished[query] = batch_log.finished(checkpoint)
            self.record.state_file_bytes[query] = batch_log.bytes_of_state(checkpoint)
        if not self.record.killed_in:
            self._describe()

    def verify(self) -> None:
        """Compare the results with the answers in batch and by pandas."""
        self._say("Asking the same questions in batch and comparing row for row")
        with (
            self.record.timed("compare"),
            closing(Driver("demo.verify", self._arguments, self._workspace.driver_log)) as driver,
        ):
            for event in self._heard(driver):
                verdict = Verdict(**event["verdict"])
                self.record.verdicts.append(verdict)
                found = "exact" if verdict.exact else "NOT EXACT"
                self._note(f"{verdict.query} against {verdict.reference}: {found}")

    def _stream(self, stages: range, *, kill: bool) -> None:
        """Run the streaming driver and take down what it tells."""
        files = self.record.replayed.files
        planned = {
            it: planned_batches(self._stages, files, FILES_PER_BATCH[it]) for it in self._queries
        }
        half = sum(planned.values()) // 2
        ticker = Ticker(self._console, planned, self.record.batches)
        arguments = [*self._arguments, "--stages", *map(str, stages)]
        arguments += ["--place", self._place.to_json()]
        with closing(Driver("demo.pipeline", arguments, self._workspace.driver_log)) as driver:
            for event in self._heard(driver):
                if event["kind"] == "rescaled":
                    self._take_down(Rescaled(**event["rescaled"]))
                    continue
                if event["kind"] == "requests":
                    self.record.requests[event["activity"]].update(event["counts"])
                    continue
                if event["kind"] == "unreported":
                    hit = self.record.killed_in.get(event["query"])
                    if hit is not None:
                        self.record.resumed[event["query"]] = hit
                    continue
                batch = Batch.from_progress(event["progress"])
                self.record.batches.append(batch)
                if self.record.killed_in:
                    self.record.resumed.setdefault(batch.query, batch.number)
                ticker.add(batch)
                if kill and ticker.done() >= half:
                    kill_within_batch(driver, map(self._place.folder, self._queries))
                    break
        # The driver is gone, and what it has asked for at last is done here.
        if self._place.counter:
            self.record.requests[STREAMING] += taken_when_done(self._place.counter)

    def _heard(self, driver: Driver) -> Iterator[Event]:
        """Pass on what a driver tells, and print what it only wants to be seen."""
        for event in driver.events():
            if event["kind"] == "note":
                self._note(event["text"])
            else:
                yield event

    def _take_down(self, done: Rescaled) -> None:
        self.record.rescaled.append(done)
        self._note(f"{done.query}: {done.before} -> {done.after} partitions in {done.ms} ms")

    def _describe(self) -> None:
        """Show the state as it lies in its files, while no Spark is running."""
        if self.record.provider != KEYFOLD:
            return
        self._say("The state, read from its files with keyfold.open_checkpoint(path).describe()")
        texts = []
        for query in self._queries:
            checkpoint = self._place.checkpoint(query)
            options = self._place.storage_options
            description = keyfold.open_checkpoint(checkpoint, storage_options=options).describe()
            self._console.print(description)
            texts.append(str(description))
        self._workspace.state.write_text("\n".join(texts), encoding="utf-8")
        self.record.described = True
        if self._place.counter:
            self.record.requests[LOOKING] += taken(self._place.counter)

    def _say(self, text: str) -> None:
        """Announce a step."""
        self._console.print(text, style="bold", highlight=False)

    def _note(self, text: str) -> None:
        """Print a line below the step."""
        self._console.print(f"  {text}", highlight=False)
