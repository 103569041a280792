"""What a driver process tells the demo: one JSON object a line on its standard output."""

import json
import sys
from collections.abc import Iterable, Iterator
from typing import Any, cast

Event = dict[str, Any]


def send(kind: str, **facts: object) -> None:
    """Write one event; flushed, because this process may be killed at any moment."""
    sys.stdout.write(json.dumps({"kind": kind, **facts}) + "\n")
    sys.stdout.flush()


def received(lines: Iterable[str]) -> Iterator[Event]:
    """Read events. A line that is none (cut off by a kill, or a library's) is passed over."""
    for line in lines:
        try:
            event = json.loads(line)
        except json.JSONDecodeError:
            continue
        if isinstance(event, dict) and "kind" in event:
            yield cast("Event", event)
