"""Kafka's tools that are here."""

from __future__ import annotations

import ast
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from barnabas.kafka_tools.main import MODULES
from barnabas.reference.markdown import cell, code, page, table

_INTRODUCTION: Final = """\
Under Kafka's own names, with and without `.sh`, with Kafka's options, output and exit codes; those for data with schemas are Confluent's. They work on any Kafka cluster that takes PLAINTEXT.
`kafka-topics --help` tells the options of a tool. What is not there, and what differs, stands in [GAPS.md](../../GAPS.md#kafkas-tools)."""


def tool_page() -> str:
    rows = [(code(name), cell(_about(module))) for name, module in MODULES.items()]
    return page("Kafka's tools", _INTRODUCTION, table(("tool", "what for"), rows))


def _about(module: str) -> str:
    """What stands behind the tool's name in the first line of its module, which is not loaded for it."""
    spec = find_spec(f"barnabas.kafka_tools.commands.{module}")
    assert spec is not None, module
    assert spec.origin is not None, module
    docstring = ast.get_docstring(ast.parse(Path(spec.origin).read_text(encoding="utf-8"))) or ""
    _, _, about = docstring.partition("\n")[0].partition(": ")
    return about
