"""Paths below `/contexts/{context}/` mean the same paths without it, for the subjects of that context."""

from __future__ import annotations

from typing import Final
from urllib.parse import parse_qsl, quote, unquote, urlencode

from schema_registry.subject import ANY_CONTEXT, context_prefix

_ROOT: Final = b"/contexts/"
# The segment after one of these is a subject; `config` and `mode` count only at the beginning.
_BEFORE_SUBJECT: Final = ("subjects", "deks")
_SCOPES: Final = ("config", "mode")


def is_context_path(raw_path: bytes) -> bool:
    return raw_path.startswith(_ROOT)


def rewritten(raw_path: bytes, query: bytes) -> tuple[bytes, bytes]:
    """The path and query that a path of a context stands for; ValueError when the context cannot be."""
    context, *segments = raw_path.removeprefix(_ROOT).decode("latin-1").rstrip("/").split("/")
    if not context and not segments:
        return b"/contexts", query
    if "" in (context, *segments):
        raise ValueError("the path has an empty segment; a name that is empty cannot be asked for")
    prefix = context_prefix(unquote(context))
    if not segments:
        # The default context cannot be deleted: its path is that of the service.
        return (f"/contexts/{_encoded(prefix)}" if prefix else "/").encode(), query
    path = _path(segments, prefix)
    return path.encode("latin-1"), _query(path, query, prefix)


def _path(segments: list[str], prefix: str) -> str:
    result = []
    subject_follows = False
    for index, segment in enumerate(segments):
        if subject_follows:
            segment = segment if _is_qualified(unquote(segment)) else _encoded(prefix) + segment
            subject_follows = False
        else:
            subject_follows = segment in _BEFORE_SUBJECT or (index == 0 and segment in _SCOPES)
        result.append(segment)
    if subject_follows and segments[0] in _SCOPES and prefix:
        result.append(_encoded(prefix))
    return "/" + "/".join(result)


def _query(path: str, query: bytes, prefix: str) -> bytes:
    """Ids belong to a context, and lists are of one: their queries say so."""
    pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
    if path.startswith("/schemas/ids"):
        name = "subject"
    elif path in ("/schemas", "/subjects"):
        name = "subjectPrefix"
    else:
        return query
    values = [value for key, value in pairs if key == name] or [""]
    placed = [(name, value if _is_qualified(value) else prefix + value) for value in values]
    return urlencode([*(pair for pair in pairs if pair[0] != name), *placed]).encode()


def _is_qualified(subject: str) -> bool:
    return subject.startswith((":.", ANY_CONTEXT))


def _encoded(text: str) -> str:
    return quote(text, safe="")
