"""Subjects and the contexts in which they lie: `:.context:subject`, or just `subject` in the default context."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

DEFAULT_CONTEXT: Final = "."
GLOBAL_CONTEXT: Final = ".__GLOBAL"
"""Holds configurations and modes that all contexts fall back on; no schemas."""

WILDCARD: Final = "*"
ANY_CONTEXT: Final = ":*:"

PARSED_KEPT_MAX: Final = 1_024

_DELIMITER: Final = ":"
_PREFIX: Final = ":."
_RESERVED_SUBJECTS: Final = frozenset({"__GLOBAL", "__EMPTY"})
_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True)
class Subject:
    """A subject with its context. An empty name means the context itself."""

    context: str
    name: str

    @staticmethod
    def parse(text: str) -> Subject:
        return _parsed(text)

    def __str__(self) -> str:
        return self.context_prefix + self.name

    @property
    def context_prefix(self) -> str:
        """What stands before the name: nothing in the default context."""
        return "" if self.context == DEFAULT_CONTEXT else f"{_DELIMITER}{self.context}{_DELIMITER}"

    @property
    def in_default_context(self) -> bool:
        return self.context == DEFAULT_CONTEXT

    @property
    def is_default_scope(self) -> bool:
        """Whether this names the default context as a whole, whose settings carry no subject."""
        return self.in_default_context and not self.name

    @property
    def is_global_scope(self) -> bool:
        return self.context == GLOBAL_CONTEXT and not self.name

    def beside(self, text: str) -> Subject:
        """The subject that `text` means in a schema of this subject: in the same context, unless it names one."""
        subject = Subject.parse(text)
        if subject.in_default_context and not self.in_default_context:
            return Subject(self.context, text)
        return subject


# One request asks for the parts of its subject dozens of times.
@lru_cache(PARSED_KEPT_MAX)
def _parsed(text: str) -> Subject:
    if text.startswith(_PREFIX):
        context, _, name = text[1:].partition(_DELIMITER)
        return Subject(context, name)
    if text.startswith(ANY_CONTEXT):
        return Subject(WILDCARD, text.removeprefix(ANY_CONTEXT))
    return Subject(DEFAULT_CONTEXT, text)


def normalised(text: str) -> str:
    """The one spelling of a qualified subject: `:.:orders` is `orders`."""
    return str(Subject.parse(text))


def context_of(text: str) -> str:
    return Subject.parse(text).context


def is_valid(text: str, *, scope: bool = False) -> bool:
    """Whether schemas may be registered under the subject or, for a scope, settings may be kept for it."""
    if _CONTROL.search(text):
        return False
    subject = Subject.parse(text)
    if subject.name in _RESERVED_SUBJECTS:
        return False
    return scope or subject.context not in (GLOBAL_CONTEXT, WILDCARD)


def context_prefix(text: str) -> str:
    """The prefix of subjects in a context that a path names: `.ctx`, `ctx` or `:.ctx:`. ValueError when it holds a colon."""
    name = text.removeprefix(_DELIMITER).removesuffix(_DELIMITER)
    if _DELIMITER in name:
        raise ValueError(f"Context name '{name}' cannot contain a colon")
    if not name.startswith("."):
        name = f".{name}"
    return Subject(name, "").context_prefix
