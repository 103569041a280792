"""Makes the place of the checkpoints: a folder, or an S3 server."""

from collections.abc import Iterator
from contextlib import contextmanager

from demo.errors import DemoError
from demo.place import LOCAL, Place
from demo.workspace import Workspace


@contextmanager
def opened(where: str, workspace: Workspace, delay_ms: float) -> Iterator[Place]:
    """Make one of `PLACES` for as long as the run lasts; only a server's requests are delayed."""
    if where == LOCAL:
        yield Place(str(workspace.checkpoints), str(workspace.checkpoints))
        return
    try:
        # The kit's folder is on the path only when `make` says so.
        from demo.s3 import s3_place  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise DemoError(
            f"{error}: on S3 the demo is started by `make demo WHERE=s3`, or with the folder "
            "integration-tests on PYTHONPATH"
        ) from error
    with s3_place(workspace.s3, delay_ms) as place:
        yield place
