"""Answers of object stores that are errors: what they say, and what a user can check."""

from __future__ import annotations

import re

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
