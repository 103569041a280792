"""Makes the place of the checkpoints: a folder, or an S3 server."""

from collections.abc import Iterator
from contextlib import contextmanager

from demo.from_kit import from_kit
from demo.place import LOCAL, Place
from demo.workspace import Workspace


@contextmanager
def opened(where: str, workspace: Workspace, delay_ms: float) -> Iterator[Place]:
    """Make one of `PLACES` for as long as the run lasts; only a server's requests are delayed."""
    if where == LOCAL:
        yield Place(str(workspace.checkpoints), str(workspace.checkpoints))
        return
    with from_kit("demo.s3", "WHERE=s3").s3_place(workspace.s3, delay_ms) as place:
        yield place
