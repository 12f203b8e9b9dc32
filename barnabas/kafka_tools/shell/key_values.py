"""Properties on a command line, `--command-property name=value`, and files of them; and options that have a newer name."""

from __future__ import annotations

from collections.abc import Iterable

from barnabas.client.client_config import load_properties
from barnabas.kafka_tools.shell.options import Parsed


def parse_key_values(words: Iterable[str]) -> dict[str, str]:
    """Each `name=value`; a name alone has an empty value, as in Kafka."""
    pairs = {}
    for word in words:
        name, _, value = word.partition("=")
        pairs[name] = value
    return pairs


def merged(parsed: Parsed, file_option: str, pairs_option: str) -> dict[str, str]:
    """The properties of a file and of the command line; the latter win."""
    return load_properties(parsed.value(file_option), f"--{file_option}") | parse_key_values(
        parsed.values(pairs_option)
    )


def renamed(parsed: Parsed, old: str, new: str) -> str:
    """The name under which an option was given. The old one earns a warning, both at once are an error."""
    if parsed.has(old) and parsed.has(new):
        parsed.fail(f"Options --{new} and --{old} cannot be specified together.")
    if not parsed.has(old):
        return new
    print(f"Warning: --{old} is deprecated and will be removed in a future version. Use --{new} instead.")
    return old
