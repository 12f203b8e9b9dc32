"""`barnabas config`: each setting, its value, and where the value comes from."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import Any

from barnabas.cli import output
from barnabas.cli.command_parser import add_report_form
from barnabas.cli.platform.setting_arguments import add_setting_arguments, settings_of
from barnabas.kernel.settings import Explanation, Settings
from barnabas.services import SERVICES

NO_VALUE = "(none)"


def add_arguments(parser: ArgumentParser) -> None:
    parser.description = "Print the settings that would apply."
    parser.add_argument("service", nargs="?", choices=list(SERVICES), help="one service; all of them when left out")
    parser.add_argument("--docs", action="store_true", help="print what each setting means, too")
    add_setting_arguments(parser)
    add_report_form(parser)


def run(arguments: Namespace) -> int:
    docs: bool = arguments.docs
    services = [SERVICES[arguments.service]] if arguments.service else SERVICES.values()
    flags = settings_of(arguments)
    resolved = {service.name: service.resolve(flags, os.environ, arguments.config).settings for service in services}
    if arguments.output == output.JSON:
        output.write_json(sys.stdout, [_object(name, settings, docs=docs) for name, settings in resolved.items()])
        return 0
    for name, settings in resolved.items():
        print(f"# {name}: name, value, source")
        for line in lines(settings.explain(), docs=docs):
            print(line)
        for remark in settings.remarks:
            print(f"# {remark}")
    return 0


def _object(service: str, settings: Settings, *, docs: bool) -> dict[str, Any]:
    return {
        "service": service,
        "settings": [
            {"name": row.name, "value": row.text, "source": str(row.source)}
            | ({"meaning": row.setting.doc, "unit": row.setting.unit or None} if docs else {})
            for row in settings.explain()
        ],
        "remarks": list(settings.remarks),
    }


def lines(rows: Sequence[Explanation], *, docs: bool) -> list[str]:
    """Return the table, names and values aligned; with `docs`, what a setting means stands below it."""
    texts = [NO_VALUE if row.text is None else row.text for row in rows]
    name_width = max((len(row.name) for row in rows), default=0)
    # A few very long values must not push every source off the screen.
    value_width = min(max((len(text) for text in texts), default=0), 40)
    table = []
    for row, text in zip(rows, texts, strict=True):
        table.append(f"{row.name:<{name_width}}  {text:<{value_width}}  {row.source}")
        if docs:
            unit = f" Unit: {row.setting.unit}." if row.setting.unit else ""
            table.append(f"    {row.setting.doc}{unit}")
    return table
