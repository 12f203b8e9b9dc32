"""Arguments that set settings of the services, and the settings that they stand for."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from barnabas.kernel.logging import LOG_FORMATS, LOG_LEVELS

# Flags that are a short way to write --set.
_FLAG_SETTINGS: Final = {
    "data_dir": "data.dir",
    "log_format": "log.format",
    "log_level": "log.level",
    "listeners": "listeners",
    "metrics_listener": "metrics.listener",
}


def add_setting_arguments(
    parser: argparse.ArgumentParser, known_file: str | None = None, *, serves: bool = False
) -> None:
    """What a command that `serves` puts out is its log, and the lines that say where it listens: one form for both."""
    parser.add_argument("--data-dir", metavar="FOLDER", help="folder of the data (barnabas-data)")
    example = f" (such as {known_file})" if known_file else ""
    parser.add_argument("--config", type=Path, metavar="FILE", help=f"properties file{example} or .toml file")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        type=_assignment,
        metavar="NAME=VALUE",
        help="set anything; may be repeated",
    )
    names = ("--log-format", "--output", "-o") if serves else ("--log-format",)
    parser.add_argument(*names, dest="log_format", choices=LOG_FORMATS, help="form of the log on standard error (text)")
    parser.add_argument("--log-level", choices=LOG_LEVELS, help="minimum log level (info)")


def add_metrics_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--metrics-listener",
        metavar="URL",
        help="address of the broker's metrics endpoint, such as http://127.0.0.1:9404",
    )


def settings_of(arguments: argparse.Namespace, more: Mapping[str, str | None] | None = None) -> dict[str, str]:
    """The settings that the command line gives, with `more` that the command has of its own; --set overrides the short flags."""
    given = {_FLAG_SETTINGS[flag]: text for flag, text in vars(arguments).items() if flag in _FLAG_SETTINGS}
    given |= more or {}
    return {name: text for name, text in given.items() if text is not None} | dict(arguments.set)


def _assignment(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form name=value")
    return name.strip(), value
