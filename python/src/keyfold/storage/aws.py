"""Keys and region of a user's AWS profile, where neither options nor the environment have them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from configparser import ConfigParser, Error
from pathlib import Path

import pyarrow as pa  # type: ignore[import-untyped]
from pyarrow import fs

_KEYS = ("aws_access_key_id", "aws_secret_access_key", "aws_session_token")
# Other places of credentials, which obstore looks at.
_OTHERS = (
    "skip_signature",
    "web_identity_token_file",
    "container_credentials_relative_uri",
    "container_credentials_full_uri",
)


def with_aws_defaults(config: Mapping[str, str], bucket: str) -> dict[str, str]:
    """The options, with what a profile has; of other profiles than the default by AWS_PROFILE.

    If a bucket's region is not given, and it is Amazon's, Amazon is asked for it.
    """
    found = dict(config)
    if not _given(config, "access_key_id", *_OTHERS):
        held = _profile("AWS_SHARED_CREDENTIALS_FILE", "credentials", "")
        found |= {key: held[key] for key in _KEYS if key in held}
    if not _given(config, "region", "default_region"):
        region = _profile("AWS_CONFIG_FILE", "config", "profile ").get("region")
        if region is None and not _given(config, "endpoint_url", "endpoint", "endpoint_url_s3"):
            region = _region_of(bucket)
        if region is not None:
            found["aws_region"] = region
    return found


def _given(config: Mapping[str, str], *names: str) -> bool:
    """Whether options or environment have one of these."""
    return any(
        config.get(name) or config.get(f"aws_{name}") or os.environ.get(f"AWS_{name.upper()}")
        for name in names
    )


def _profile(variable: str, file: str, prefix: str) -> Mapping[str, str]:
    path = os.environ.get(variable) or Path.home() / ".aws" / file
    name = os.environ.get("AWS_PROFILE", "default")
    found = ConfigParser(interpolation=None)
    try:
        found.read(path)
    except (Error, UnicodeDecodeError):
        return {}
    section = name if name == "default" else prefix + name
    return dict(found[section]) if found.has_section(section) else {}


def _region_of(bucket: str) -> str | None:
    try:
        region: str = fs.resolve_s3_region(bucket)
    except (OSError, ValueError, pa.ArrowException):
        # The first request says what is wrong.
        return None
    return region
