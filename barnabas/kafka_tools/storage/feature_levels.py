"""The features of Kafka 4.3, and which levels belong to which release."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from barnabas.kafka_tools.shell.exits import ToolError

METADATA_VERSION: Final = "metadata.version"
LATEST: Final = "4.3-IV0"
# Each level of metadata.version from 7 on; the last one is not released.
RELEASES: Final = [
    "3.3-IV3",
    "3.4-IV0",
    "3.5-IV0",
    "3.5-IV1",
    "3.5-IV2",
    "3.6-IV0",
    "3.6-IV1",
    "3.6-IV2",
    "3.7-IV0",
    "3.7-IV1",
    "3.7-IV2",
    "3.7-IV3",
    "3.7-IV4",
    "3.8-IV0",
    "3.9-IV0",
    "4.0-IV0",
    "4.0-IV1",
    "4.0-IV2",
    "4.0-IV3",
    "4.1-IV0",
    "4.1-IV1",
    "4.2-IV0",
    "4.2-IV1",
    "4.3-IV0",
    "4.4-IV0",
]
FIRST_LEVEL: Final = 7
# For each feature the level that a release brings with it: (first level of metadata.version, level of the feature).
DEFAULTS: Final = {
    "kraft.version": (21, 1),
    "transaction.version": (24, 2),
    "group.version": (22, 1),
    "eligible.leader.replicas.version": (26, 1),
    "share.version": (28, 1),
    "streams.version": (29, 1),
}
# What a level of a feature needs, where it needs anything.
DEPENDENCIES: Final = {("eligible.leader.replicas.version", 1): {METADATA_VERSION: 23}}


def level_of(release: str, known: Sequence[str] = RELEASES) -> int:
    """The level of metadata.version of `4.3-IV0`, or of the last one of `4.3`. ToolError for a release that is not known."""
    found = [level for level, name in enumerate(known, FIRST_LEVEL) if name == release]
    if not found and re.fullmatch(r"\d+\.\d+(\.\d+)*", release):
        short = ".".join(release.split(".")[:2])
        found = [level for level, name in enumerate(known, FIRST_LEVEL) if name.startswith(f"{short}-")]
    if not found:
        raise ToolError(f"Unknown metadata.version '{release}'. Supported metadata.version are: {', '.join(known)}")
    return found[-1]


def release_of(level: int) -> str | None:
    """The name of a level of metadata.version."""
    position = level - FIRST_LEVEL
    return RELEASES[position] if 0 <= position < len(RELEASES) else None


def level_text(feature: str, level: int) -> str:
    """A level as it is shown: metadata.version by its release."""
    return (release_of(level) or f"UNKNOWN {level}") if feature == METADATA_VERSION else str(level)


def defaults_of(metadata_level: int) -> dict[str, int]:
    """The level of every other feature that a release starts with."""
    return {name: level if metadata_level >= since else 0 for name, (since, level) in DEFAULTS.items()}


def parse_level(text: str) -> tuple[str, int]:
    """`feature=level`."""
    name, equals, level = text.partition("=")
    if not equals:
        raise ToolError(f"Can't parse feature=level string {text}: equals sign not found.")
    if not re.fullmatch(r"[+-]?\d{1,5}", level.strip()) or not -(1 << 15) <= int(level) < 1 << 15:
        raise ToolError(f"Can't parse feature=level string {text}: unable to parse {level.strip()} as a short.")
    return name.strip(), int(level)


def show_mapping(release: str | None) -> None:
    """What `version-mapping` prints."""
    shown = release or LATEST
    level = level_of(shown)
    print(f"{METADATA_VERSION}={level} ({shown})")
    for name, default in defaults_of(level).items():
        print(f"{name}={default}")


def show_dependencies(features: list[str]) -> None:
    """What `feature-dependencies` prints."""
    for text in features:
        name, level = parse_level(text)
        if name == METADATA_VERSION:
            release = release_of(level)
            if release is None:
                raise ToolError(f"Unknown metadata.version {level}")
            print(f"{name}={level} ({release}) has no dependencies.")
            continue
        if name not in DEFAULTS:
            raise ToolError(f"Unknown feature: {name}")
        if not 0 <= level <= DEFAULTS[name][1]:
            raise ToolError(f"No feature:{name} with feature level {level}")
        needed = DEPENDENCIES.get((name, level), {})
        print(f"{name}={level} requires:" if needed else f"{name}={level} has no dependencies.")
        for other, other_level in needed.items():
            release = release_of(other_level)
            print(
                f"    {other}={other_level} ({release})" if other == METADATA_VERSION else f"    {other}={other_level}"
            )
