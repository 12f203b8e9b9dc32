"""URIs of schemas: relative ones are resolved against the `$id` above them."""

from __future__ import annotations

import posixpath
from urllib.parse import urlsplit, urlunsplit


def resolve(base: str, reference: str) -> str:
    """The reference seen from `base`, whatever its scheme; the standard library knows only its own list of schemes.

    What is no URI at all is left as it is: it may still be the name of a registered schema.
    """
    try:
        start, there = urlsplit(base), urlsplit(reference)
    except ValueError:
        return reference
    if not base or there.scheme:
        return reference
    if reference.startswith("#"):
        return without_fragment(base) + reference
    if there.netloc:
        return urlunsplit((start.scheme, there.netloc, there.path, there.query, there.fragment))
    path = there.path if there.path.startswith("/") else _merge(start.path, there.path, absolute=bool(start.netloc))
    return urlunsplit((start.scheme, start.netloc, path, there.query, there.fragment))


def without_fragment(uri: str) -> str:
    return uri.partition("#")[0]


def fragment(uri: str) -> str:
    return uri.partition("#")[2]


def _merge(base_path: str, path: str, *, absolute: bool) -> str:
    folder = base_path.rpartition("/")[0]
    merged = posixpath.normpath(f"{folder}/{path}" if folder or absolute else path)
    return merged + "/" if path.endswith("/") and merged != "/" else merged
