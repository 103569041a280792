"""Object stores, by obstore: S3 and what speaks like it, Google Cloud Storage, Azure.

pyarrow asks for the length of each object before it reads it, which doubles the requests.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import obstore
from obstore.exceptions import BaseError

from keyfold.storage.files import Listed, Pages, RemoteFiles

# Objects of a page of a listing; S3 gives at most as many.
_PAGE = 1000

# What answers that are errors say; below, what a user can check.
_CODE = re.compile(r"<Code>\s*([^<\s]+)\s*</Code>")
_MESSAGE = re.compile(r"<Message>([^<]*)</Message>")
_STATUS = re.compile(r"non-2xx status code: (\d+ [A-Za-z ]+)")
_CAUSE = re.compile(r'(?:message|error): "([^"]*)"')

_KEY = (
    "Check the access key and its secret: storage options aws_access_key_id and "
    "aws_secret_access_key, or the environment variables AWS_ACCESS_KEY_ID and "
    "AWS_SECRET_ACCESS_KEY; with temporary keys also the session token."
)
_REGION = "Check the region: storage option aws_region, or the environment variable AWS_REGION."
_CHECKS = {
    "InvalidAccessKeyId": _KEY,
    "SignatureDoesNotMatch": _KEY,
    "XAdminUserNotFound": _KEY,
    "InvalidToken": _KEY,
    "ExpiredToken": "The session token has expired; get new temporary keys.",
    "AccessDenied": (
        "Check that these credentials may list the bucket and read its objects (s3:ListBucket, "
        "s3:GetObject), or that anyone may, for anonymous access."
    ),
    "NoSuchBucket": "Check the name of the bucket, and the endpoint.",
    "PermanentRedirect": _REGION,
    "AuthorizationHeaderMalformed": _REGION,
    "IllegalLocationConstraintException": _REGION,
    "RequestTimeTooSkewed": "The clocks differ too much: set the clock of this machine.",
    "SlowDown": "The store asks for fewer requests; try again later.",
}
_CONNECTION = (
    "Check the endpoint (storage option aws_endpoint_url, or the environment variable "
    "AWS_ENDPOINT_URL), the network, and that the server runs."
)
_NO_CREDENTIALS = (
    "no credentials were found, neither in storage options nor in the environment nor on this "
    "machine's instance. Give aws_access_key_id and aws_secret_access_key, or "
    "aws_skip_signature=true for anonymous access."
)
# Where the credentials of a machine in a cloud are.
_INSTANCE = "169.254.169.254"


class ObjectFiles(RemoteFiles):
    """A bucket."""

    def __init__(self, store: Any, place: str, *, ordered: bool) -> None:  # noqa: ANN401 - obstore's
        self._store = store
        self._place = place
        self.ordered = ordered

    def listing(self, path: str) -> list[Listed]:
        """As `RemoteFiles`: one request for 1,000 objects."""
        with self._errors():
            found = obstore.list_with_delimiter(self._store, path or None)
        folders = [Listed(_name(it), 0, is_folder=True) for it in found["common_prefixes"]]
        return folders + [_listed(it) for it in found["objects"] if it["path"] != path]

    def below(self, path: str, start: str = "", end: str = "") -> Pages:
        """As `RemoteFiles`: one request for 1,000 objects."""
        found: Pages = []
        with self._errors():
            pages = obstore.list(self._store, path or None, offset=start or None, chunk_size=_PAGE)
            for it in (it for page in pages for it in page):
                if end and it["path"].encode() > end.encode():
                    break
                folder = it["path"].rpartition("/")[0]
                found.append((folder[len(path) :].lstrip("/"), _listed(it)))
        return found

    def content(self, path: str) -> bytes:
        """As `RemoteFiles`; the length is learnt from the response."""
        with self._errors():
            return bytes(obstore.get(self._store, path).bytes())

    def range(self, path: str, start: int, end: int) -> bytes:
        """Bytes of an object from `start` until before `end`."""
        with self._errors():
            return bytes(obstore.get_range(self._store, path, start=start, end=end))

    def length(self, path: str) -> int:
        """Length of an object in bytes."""
        with self._errors():
            return int(obstore.head(self._store, path)["size"])

    @contextmanager
    def _errors(self) -> Iterator[None]:
        # What obstore raises holds the whole answer, with signatures, so it is no one's cause.
        try:
            yield
        except (BaseError, OSError) as error:
            if is_missing(error):
                raise FileNotFoundError from None
            raise OSError(reason(str(error), self._place)) from None


def _listed(it: Any) -> Listed:  # noqa: ANN401 - a dictionary of obstore's
    modified: datetime = it["last_modified"]
    return Listed(_name(it["path"]), it["size"], False, int(modified.timestamp() * 1000))  # noqa: FBT003


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def is_missing(error: Exception) -> bool:
    """Whether it says that there is no such object, and not that something else is not there."""
    if not isinstance(error, FileNotFoundError):
        return False
    code = _CODE.search(str(error))
    return code is None or code[1] in {"NoSuchKey", "BlobNotFound", "PathNotFound"}


def reason(text: str, place: str) -> str:
    """Why a request failed, and what to check.

    Args:
        text: obstore's description of the failure.
        place: bucket and endpoint.
    """
    if _INSTANCE in text:
        return f"{place}: {_NO_CREDENTIALS}"
    code, status = _CODE.search(text), _STATUS.search(text)
    if code is not None:
        message = _MESSAGE.search(text)
        said = f"{code[1]}: {message[1].strip().rstrip('.')}" if message else code[1]
        check = _CHECKS.get(code[1], "Check the path, and your permissions.")
        return f"{place} answered {said}. {check}"
    if status is not None:
        check = _REGION if status[1].startswith("301") else "Check the path, and your permissions."
        return f"{place} answered {status[1].strip()}. {check}"
    causes = _CAUSE.findall(text)
    why = f" ({causes[-1]})" if causes else ""
    return f"there is no connection to {place}{why}. {_CONNECTION}"
