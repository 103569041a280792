"""The example notebook runs as it is, and shows what the orders that it makes add up to."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbconvert import HTMLExporter
from playwright.sync_api import Browser

import keyfold
from kit.browser import chromium, shown
from kit.session import ENVIRONMENT, NEEDS_JAR

pytestmark = NEEDS_JAR

NOTEBOOK = Path(__file__).parents[3] / "examples" / "look-inside.ipynb"


@dataclass
class Executed:
    """The notebook with its outputs, and the folder that it has made."""

    notebook: Any
    folder: Path

    def _output(self, cell: str, kind: str) -> str:
        (found,) = [it for it in self.notebook.cells if it.id == cell]
        (output,) = [it for it in found.outputs if kind in it.get("data", {})]
        text: str = output["data"][kind]
        return text

    def html(self, cell: str) -> str:
        return self._output(cell, "text/html")

    def text(self, cell: str) -> str:
        return self._output(cell, "text/plain")

    def printed(self, cell: str) -> str:
        (found,) = [it for it in self.notebook.cells if it.id == cell]
        return "".join(it.text for it in found.outputs if it.get("name") == "stdout")

    def tables(self, cell: str) -> list[list[dict[str, str]]]:
        """The rows of each table by the names in its heading, as they are read on the screen."""
        parsed = Tables()
        parsed.feed(self.html(cell))
        return [
            [dict(zip(rows[0], row, strict=True)) for row in rows[1:]] for rows in parsed.tables
        ]

    def table(self, cell: str) -> list[dict[str, str]]:
        (found,) = self.tables(cell)
        return found


class Orders:
    """What the notebook has put into the files of its orders, added up here."""

    def __init__(self, folder: Path) -> None:
        self.totals: list[dict[str, tuple[int, int]]] = []
        seen: dict[str, dict[str, Any]] = {}
        for day in range(8):
            text = (folder / "orders" / f"day-{day}.json").read_text(encoding="utf-8")
            seen |= {it["order"]: it for it in map(json.loads, text.splitlines())}
            totals: dict[str, tuple[int, int]] = {}
            for it in seen.values():
                count, amount = totals.get(it["customer"], (0, 0))
                totals[it["customer"]] = count + 1, amount + it["amount"]
            self.totals.append(totals)
        self.unique = len(seen)


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> Executed:
    root = tmp_path_factory.mktemp("notebook")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    client = NotebookClient(
        notebook, kernel_name="python3", timeout=200, resources={"metadata": {"path": str(root)}}
    )
    client.execute(env=os.environ | ENVIRONMENT | {"TMPDIR": str(root)})
    (folder,) = root.glob("keyfold-example-*")
    return Executed(notebook, folder)


@pytest.fixture(scope="module")
def orders(executed: Executed) -> Orders:
    return Orders(executed.folder)


@pytest.fixture(scope="module")
def browser(executed: Executed) -> Iterator[Browser]:
    # Begun when nothing is left to execute: both want to run the thread's event loop.
    del executed
    with chromium() as found:
        yield found


def row(customer: str, found: tuple[int, int]) -> dict[str, str]:
    count, amount = found
    return {"key.customer": customer, "value.count": str(count), "value.sum": str(amount)}


def without_index(rows: list[dict[str, str]]) -> list[dict[str, str]]:
    return [{name: text for name, text in it.items() if name} for it in rows]


def test_is_committed_without_outputs() -> None:
    cells = nbformat.read(NOTEBOOK, as_version=4).cells
    assert all(not it.outputs and it.execution_count is None for it in cells if "outputs" in it)


def test_no_cell_fails(executed: Executed) -> None:
    code = [it for it in executed.notebook.cells if it.cell_type == "code"]
    assert [it.execution_count for it in code] == list(range(1, len(code) + 1))
    assert not [out for it in code for out in it.outputs if out.output_type == "error"]


def test_what_there_is(executed: Executed, orders: Orders) -> None:
    _, customers, dedup = executed.tables("describe")
    assert [it["rows"] for it in customers] == [str(len(orders.totals[-1]))]
    assert [it["rows"] for it in dedup] == [f"{orders.unique:,}"]
    assert executed.text("operators") == "{'agg': ['default'], 'dedup': ['default']}"
    batches = executed.table("batches")
    assert [it["batch_id"] for it in batches] == [str(day) for day in range(8)]
    assert {(it["committed"], it["partitions"]) for it in batches} == {("True", "4")}


def test_where_the_state_is(executed: Executed, orders: Orders) -> None:
    rows = {"stateStoreSave": 0, "dedupe": 0}
    for it in executed.table("partitions"):
        rows[it["operator_name"]] += int(it["rows"])
    assert rows == {"stateStoreSave": len(orders.totals[-1]), "dedupe": orders.unique}
    heaviest, second, *_ = executed.tables("skew")[0]
    assert heaviest["key"] == '{"customer": "c07"}'
    assert int(heaviest["bytes"]) > 2000 * len("very ") > 100 * int(second["bytes"])


def test_rows(executed: Executed, orders: Orders) -> None:
    now, earlier = orders.totals[-1], orders.totals[-4]
    assert without_index(executed.table("get")) == [row("c11", now["c11"])]
    assert without_index(executed.table("get-earlier")) == [row("c11", earlier["c11"])]
    best = sorted((it for it in now.items() if it[1][1] > 4000), key=lambda it: -it[1][1])
    assert 1 < len(best) < len(now)
    assert without_index(executed.table("scan")) == [row(*it) for it in best]
    assert executed.text("count") == str(orders.unique)


def test_what_has_changed(executed: Executed, orders: Orders) -> None:
    before, after = orders.totals[6:]
    inserted = {key: value for key, value in after.items() if key not in before}
    updated = [key for key, value in before.items() if after[key] != value]
    found = executed.html("diff")
    for change, count in (("inserted", len(inserted)), ("updated", len(updated))):
        assert "".join(f"<th>{change}</th> <td>{count}</td>".split()) in "".join(found.split())
    shown_rows = {
        it["key.customer"]: (int(it["after_value.count"]), int(it["after_value.sum"]))
        for it in executed.table("diff-inserted")
    }
    assert shown_rows == inserted
    assert inserted
    states = [(day, totals["c26"]) for day, totals in enumerate(orders.totals) if "c26" in totals]
    changed = [it for n, it in enumerate(states) if n == 0 or it[1] != states[n - 1][1]]
    assert without_index(executed.table("history")) == [
        {"batch_id": str(day), "change": "updated" if n else "inserted"} | row("c26", found)
        for n, (day, found) in enumerate(changed)
    ]


def test_health(executed: Executed) -> None:
    assert "8 batches" in executed.html("fsck")
    assert "nothing wrong" in executed.html("fsck")
    damage = executed.table("fsck-damaged")
    assert {it["kind"] for it in damage} == {"damaged"}
    assert all("damaged/state/0/0/1_" in it["path"] for it in damage)


def test_a_running_query_is_watched_in_one_output(executed: Executed) -> None:
    operators, partitions, groups = executed.tables("watch")
    assert [(it["operator"], it["rows"]) for it in operators] == [("0 stateStoreSave", "200")]
    assert float(partitions[0]["of mean"].removesuffix(" x")) > 1.5
    # That of the customer with the long comments.
    first, second = (float(it["share"].removesuffix(" %")) for it in groups[:2])
    assert first > 10 * second
    assert "was committed" in executed.html("watch")
    assert "batches a minute" in executed.html("watch")


def test_changes(executed: Executed, orders: Orders) -> None:
    checkpoint = executed.folder / "checkpoint"
    assert executed.text("savepoint") == "('before-upgrade',)"
    kept = keyfold.open_checkpoint(checkpoint / "keyfold" / "savepoints" / "before-upgrade")
    assert kept["agg"].count() == len(orders.totals[-1])
    for cell, says in (("rescale", "4 -> 8"), ("rollback", "7 -> 5")):
        assert says in executed.printed(cell)
        assert "not done" in executed.printed(cell)
    # Both were plans.
    opened = keyfold.open_checkpoint(checkpoint)
    assert opened.last_batch == 7
    assert {it["partitions"] for it in opened.batches().to_pylist()} == {4}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_can_be_read_on_a_laptop(
    executed: Executed, browser: Browser, tmp_path: Path, theme: str
) -> None:
    with page(executed, browser, tmp_path, theme) as it:
        assert it.problems(".jp-OutputArea-output") == []
        assert it.page.locator("svg[role=img]").count() == 4 + 3


def test_its_report_can_be_read_on_a_laptop(executed: Executed, browser: Browser) -> None:
    with shown(browser, executed.folder / "state.html") as it:
        assert it.problems() == []
        assert it.complaints == []


def page(executed: Executed, browser: Browser, root: Path, theme: str) -> Any:
    """The notebook as a page, without what nbconvert would fetch from elsewhere."""
    urls = dict.fromkeys(("mathjax_url", "require_js_url", "jquery_url", "mermaid_js_url"), "")
    html, _ = HTMLExporter(theme=theme, **urls).from_notebook_node(executed.notebook)
    (root / "notebook.html").write_text(html, encoding="utf-8")
    return shown(browser, root / "notebook.html")


class Tables(HTMLParser):
    """Texts of the cells of tables."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: list[list[list[str]]] = []
        self._in_cell = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in {"td", "th"}:
            self.tables[-1][-1].append("")
            self._in_cell = True

    def handle_endtag(self, tag: str) -> None:
        if tag in {"td", "th"}:
            self._in_cell = False

    def handle_data(self, data: str) -> None:
        if self._in_cell:
            self.tables[-1][-1][-1] += data
