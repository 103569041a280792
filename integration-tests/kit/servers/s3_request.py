"""What a request asks of an S3 server that has its buckets in paths."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import parse_qs, unquote, urlsplit

from kit.servers.http_messages import Head

PUT, PUT_PART, COPY, GET, HEAD, LIST = "PUT", "PUT PART", "COPY", "GET", "HEAD", "LIST"
DELETE, DELETE_MANY = "DELETE", "DELETE MANY"
START_UPLOAD, END_UPLOAD, ABORT_UPLOAD = "START UPLOAD", "END UPLOAD", "ABORT UPLOAD"
# What changes objects.
WRITES = frozenset({PUT, COPY, DELETE, DELETE_MANY, END_UPLOAD})
CONDITIONS = ("if-none-match", "if-match")


@dataclass(frozen=True)
class S3Request:
    """One request. `key` is the object's, or the prefix of a listing; a bulk delete has none.

    `conditional` is a PUT that another writer's object may keep from being done.
    """

    operation: str
    key: str
    conditional: bool


def s3_request(head: Head) -> S3Request:
    """The request with this head; an operation that has no name here has its method's."""
    method, target, _ = head.start.split(" ", 2)
    url = urlsplit(target)
    query = parse_qs(url.query, keep_blank_values=True)
    _, _, key = unquote(url.path).removeprefix("/").partition("/")
    operation = _operation(method, key, query, "x-amz-copy-source" in head.headers)
    writes = operation in {PUT, END_UPLOAD}
    return S3Request(
        operation,
        query.get("prefix", [""])[0] if operation == LIST else key,
        writes and any(it in head.headers for it in CONDITIONS),
    )


def place_of(key: str) -> str:
    """Where in a checkpoint an object is: `state`, `offsets`, `commits`, or `other`."""
    for part in key.split("/"):
        if part in {"state", "offsets", "commits"}:
            return part
    return "other"


def _operation(method: str, key: str, query: dict[str, list[str]], copies: bool) -> str:  # noqa: FBT001
    upload = "uploadId" in query
    if method == "GET":
        return GET if key else LIST
    if method == "PUT":
        return COPY if copies else PUT_PART if upload else PUT
    if method == "DELETE":
        return ABORT_UPLOAD if upload else DELETE
    if method == "POST":
        return DELETE_MANY if "delete" in query else END_UPLOAD if upload else START_UPLOAD
    return method
