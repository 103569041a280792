"""How far the queries are: batches with input, each once, those before a kill too."""

from dataclasses import replace

from rich.console import Console

from demo.batches import Batch
from demo.ticker import Ticker

FIRST = Batch("flights", 0, 10, 5, 1, 7, 100, 0, 0)


def test_batches_with_input_count_once_whatever_their_numbers() -> None:
    ticker = Ticker(Console(quiet=True), {"flights": 4, "delays": 2}, before=[FIRST])
    # The same again after a kill, one that moves the watermark, one after a rescale.
    ticker.add(FIRST)
    ticker.add(replace(FIRST, number=1, input_rows=0))
    ticker.add(replace(FIRST, number=3))
    ticker.add(replace(FIRST, query="delays"))
    assert ticker.done() == 3
    assert ticker.line() == "delays  1/2  flights  2/4      14 rows of state"
