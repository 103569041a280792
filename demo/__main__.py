"""Entry point: `python -m demo`."""

import argparse
import sys
from pathlib import Path

from rich.console import Console
from rich.markdown import Markdown

from demo.ends import ends
from demo.errors import DemoError
from demo.place import LOCAL, PLACES
from demo.run import Run
from demo.session import KEYFOLD, PROVIDERS
from demo.sink import SINKS
from demo.source import SOURCES
from demo.summary import page
from demo.where import opened
from demo.workspace import FILES, Workspace
from keyfold import KeyfoldError

PIPE_WIDTH = 100
INTERRUPTED = 130


def main() -> int:
    """Run the demo; 0 when every answer is exact, 1 when one is not, 2 when it could not run."""
    parser = argparse.ArgumentParser(prog="demo", description=sys.modules["demo"].__doc__)
    parser.add_argument("--provider", choices=PROVIDERS, default=KEYFOLD, help="the state store")
    parser.add_argument("--where", choices=PLACES, default=LOCAL, help="where the checkpoints are")
    parser.add_argument("--source", choices=SOURCES, default=FILES, help="of the input")
    parser.add_argument("--sink", choices=SINKS, default=FILES, help="of the results")
    parser.add_argument(
        "--delay-ms", type=float, default=0, help="how long S3 holds each request back"
    )
    parser.add_argument("--out", type=Path, default=Path("demo-out"), help="folder for all output")
    parser.add_argument("--no-kill", action="store_true", help="let the driver live")
    options = parser.parse_args()
    console = Console()
    if not console.is_terminal:
        console = Console(width=PIPE_WIDTH)
    workspace = Workspace(options.out.resolve())
    try:
        workspace.clear()
        with (
            ends(options.source, options.sink, workspace) as both,
            opened(options.where, workspace, options.delay_ms) as place,
        ):
            run = Run(workspace, place, both, options.provider, console)
            run.record.delay_ms = options.delay_ms
            run.prepare()
            if not options.no_kill:
                run.stream_half()
            run.stream_rest()
            run.verify()
    except (DemoError, KeyfoldError) as error:
        console.print(str(error), markup=False, highlight=False, soft_wrap=True)
        return 2
    except KeyboardInterrupt:
        return INTERRUPTED
    text = page(run.record)
    workspace.summary.write_text(text, encoding="utf-8")
    console.print(Markdown(text))
    console.print(f"Saved as {workspace.summary}", highlight=False, soft_wrap=True)
    return 0 if run.record.exact else 1


if __name__ == "__main__":
    sys.exit(main())
