"""A bucket by its name and storage options."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from configparser import ConfigParser, Error
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
from obstore.exceptions import BaseError, UnknownConfigurationKeyError
from obstore.store import from_url
from pyarrow import fs

from keyfold.errors import InvalidArgumentError
from keyfold.storage.object_files import ObjectFiles

# Some seconds: less and a server that restarts is not waited for, more and a wrong endpoint hangs.
_RETRIES = {"max_retries": 5}
# Options of connections, which obstore takes separately; some write them with the store's prefix.
_OF_CLIENT = re.compile(
    r"(?:aws_|google_|azure_)?(allow_http|allow_invalid_certificates|connect_timeout|"
    r"default_content_type|http1_only|http2_\w+|pool_\w+|proxy_\w+|randomize_addresses|timeout|"
    r"user_agent)"
)
# An endpoint with http: is what its user wants, so it is not to be allowed separately. In a minute
# the largest range, 32 MiB, comes through a slow line.
_CLIENT = {"allow_http": "true", "timeout": "60s"}
_ENDPOINT = re.compile(r"(?:aws_|azure_|azure_storage_)?endpoint(?:_url)?(?:_s3)?")
_URL = re.compile(r"https?://[^/\s]+(/\S*)?")
_KNOWN = {
    "s3": "aws_access_key_id, aws_secret_access_key, aws_session_token, aws_region, "
    "aws_endpoint_url, aws_skip_signature",
    "gs": "google_service_account, google_application_credentials, google_skip_signature",
    "abfss": "azure_storage_account_key, azure_storage_sas_token, azure_storage_client_id, "
    "azure_storage_client_secret, azure_storage_tenant_id, azure_skip_signature",
}

# Of a user's AWS profile, where neither options nor the environment have them.
_KEYS = ("aws_access_key_id", "aws_secret_access_key", "aws_session_token")
# Other places of credentials, which obstore looks at.
_OTHERS = (
    "skip_signature",
    "web_identity_token_file",
    "container_credentials_relative_uri",
    "container_credentials_full_uri",
)


def bucket_files(
    kind: str, authority: str, options: Mapping[str, Any], *, shown: str
) -> ObjectFiles:
    """The files of a bucket or container; nothing is read of it.

    Args:
        kind: s3, gs or abfss.
        authority: what the URI says between `//` and the path.
        options: as Polars and delta-rs name them.
        shown: the path, for messages.

    Raises:
        InvalidArgumentError: there is no bucket, or no such option.
    """
    if not authority or ":" in authority:
        raise InvalidArgumentError(
            "Invalid checkpoint path: it names no bucket, or a password. Give credentials as "
            "storage options, which are not shown."
        )
    config = {
        name.lower(): str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in options.items()
        if value is not None
    }
    client = dict(_CLIENT)
    for name in list(config):
        if found := _OF_CLIENT.fullmatch(name):
            client[found[1]] = config.pop(name)
    _check_endpoints(config)
    if kind == "s3":
        config = with_aws_defaults(config, authority)
    # A container of Azure is written container@account.blob... by wasbs, .dfs... by abfss.
    address = f"{kind}://{authority.replace('.blob.', '.dfs.')}"
    make: Any = from_url  # typed by the kind of store
    given = f"storage options for {shown!r}"
    known = f"Options for {kind}: are those of Polars and delta-rs, such as {_KNOWN[kind]}."
    try:
        store = make(address, config=config, client_options=client, retry_config=_RETRIES)
    except UnknownConfigurationKeyError:
        raise InvalidArgumentError(f"Invalid {given}: {', '.join(options)}. {known}") from None
    except (BaseError, OSError, ValueError) as error:
        reason = str(error).split("\n", 1)[0]
        raise InvalidArgumentError(
            f"Invalid checkpoint path or {given}: {reason}. {known}"
        ) from None
    # Directory buckets of S3 Express have no order; others than S3 would list all each time.
    ordered = kind == "s3" and not authority.endswith("--x-s3")
    return ObjectFiles(store, _place(kind, authority, store.config), ordered=ordered)


def _check_endpoints(config: Mapping[str, str]) -> None:
    """Raises InvalidArgumentError for what obstore would crash on: `host:9000`."""
    said = dict(config)
    if endpoint := os.environ.get("AWS_ENDPOINT_URL"):
        said.setdefault("AWS_ENDPOINT_URL", endpoint)
    for name, value in said.items():
        if _ENDPOINT.fullmatch(name.lower()) and not _URL.fullmatch(value):
            raise InvalidArgumentError(
                f"Invalid {name}: {value!r} is not a URL such as http://host:9000."
            )


def _place(kind: str, authority: str, config: Mapping[str, Any]) -> str:
    if kind == "abfss":
        return f"container {authority!r}"
    if kind == "gs":
        return f"bucket {authority!r} at Google Cloud Storage"
    said = os.environ
    endpoint = config.get("endpoint") or said.get("AWS_ENDPOINT_URL") or "Amazon S3"
    region = config.get("region") or said.get("AWS_REGION") or said.get("AWS_DEFAULT_REGION")
    return f"bucket {authority!r} at {endpoint} (region {region or 'us-east-1'})"


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
