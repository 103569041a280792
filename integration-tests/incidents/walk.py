"""One incident after the other: what messages advise is done, and nothing else."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from click.testing import CliRunner
from pyspark.sql import SparkSession

from incidents.advice import LAST, Advice, advices
from incidents.damages import DAMAGES
from incidents.left import batches_left
from incidents.query import FILES, NEXT, Query, write_inputs
from incidents.states import STATES, States
from keyfold.cli.main import cli

MOST_STEPS = 10
RUNS, NO_BATCH_LEFT = "the query runs, rows exact", "no batch is left that can be read"


class WrongEndError(Exception):
    """An incident that the messages did not end well."""


class Walk:
    """Incidents by seed."""

    def __init__(
        self, spark: SparkSession, root: Path, tell: Callable[[str], None] = lambda _: None
    ) -> None:
        """`tell` is given each step."""
        self._states, self._tell = States(spark, root), tell
        self.ends: Counter[str] = Counter()
        self.followed: Counter[str] = Counter()

    def run(self, seed: int) -> str:
        """How it ended.

        Raises:
            WrongEndError: not with exact rows, and not with the message that nothing can be read.
        """
        chance = random.Random(seed)  # noqa: S311 - a seed repeats it
        state, damage = chance.choice(list(STATES)), chance.choice(DAMAGES)
        query = self._states.copy(state)
        what = f"seed {seed}: {state}; {damage(query, chance)}"
        self._tell(what)
        write_inputs(query.source, [*FILES, NEXT])
        try:
            end = self._end(query, chance)
        except WrongEndError as error:
            raise WrongEndError(f"{what}: {error}") from error
        self.ends[end] += 1
        return f"{what}: {end}"

    def _end(self, query: Query, chance: random.Random) -> str:
        said = query.run()
        fsck = Advice("command", ("fsck", str(query.checkpoint)))
        done, tried = None, set[Advice]()
        for _ in range(MOST_STEPS):
            # Without its last entry, Spark takes a source for empty once, and the trigger ends.
            said = said or query.run()
            if said is None:
                wrong = query.wrong([*FILES, NEXT])
                if wrong:
                    raise WrongEndError(wrong)
                return RUNS
            self._tell(f"  said: {said[:1500]}")
            if LAST in said:
                left = batches_left(query)
                if left:
                    raise WrongEndError(f"batches {left} are left: {said[:1500]}")
                return NO_BATCH_LEFT
            ways = advices(said)
            if not ways and done == fsck:
                raise WrongEndError(f"nothing is advised: {said[:1500]}")
            # Nobody tries the same way twice while there is another. The runbook begins with fsck.
            done = chance.choice([it for it in ways if it not in tried] or ways or [fsck])
            tried.add(done)
            said = self._follow(done, query)
        raise WrongEndError(f"after {MOST_STEPS} steps: {said}")

    def _follow(self, advice: Advice, query: Query) -> str | None:
        """What is said next: by the command if it did not do it, else by the query's start."""
        self._tell(f"  do: {advice}")
        named = (*(["delete"] if advice.deletes else []), advice.kind, *advice.words[:1])
        self.followed[" ".join(named)] += 1
        for it in (*advice.deletes, *advice.deletes_of(query.sink)):
            Path(it).unlink(missing_ok=True)
        if advice.kind == "command":
            words = list(advice.words)
            says_sink = {"--sink-path", "--undo"} & set(words)
            if query.sink and words[0] == "rollback" and not says_sink:
                # fsck asks for it: a checkpoint does not name the folder.
                words += ["--sink-path", str(query.sink)]
            done = CliRunner().invoke(cli, words)
            self._tell(f"  exit code {done.exit_code}")
            answers = advice.words[0] == "fsck" and done.exit_code == 1
            if answers or done.exit_code > 1:
                return done.output
        elif advice.kind == "set":
            key, value = advice.words
            query.settings[key] = value
        elif advice.kind == "unset":
            query.settings.pop(advice.words[0])
        return query.run()
