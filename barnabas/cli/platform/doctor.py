"""`barnabas doctor`: what would keep the platform from running well, and how to fix it."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from typing import Final

from barnabas.cli import output
from barnabas.cli.output import JSON, TABLE, Column
from barnabas.cli.platform import checks
from barnabas.cli.platform.checks import Finding, Verdict
from barnabas.cli.platform.setting_arguments import add_setting_arguments, settings_of
from barnabas.cli.terminal import styles
from barnabas.cli.terminal.styles import styled
from barnabas.services import SERVICES, resolve_all

EXIT_BROKEN: Final = 1

_STYLES: Final = {
    Verdict.GOOD.value: styles.GREEN,
    Verdict.ODD.value: styles.YELLOW,
    Verdict.BAD.value: styles.RED,
}


def add_arguments(parser: ArgumentParser) -> None:
    parser.description = "Look at ports, disk, Java, packages, limits and the clock, and say how to fix what is wrong."
    add_setting_arguments(parser)
    parser.add_argument("--output", "-o", choices=(TABLE, JSON), default=TABLE, help="form of the output (table)")


def run(arguments: Namespace) -> int:
    """0 unless something is bad. Settings are read as `barnabas up` reads them."""
    installed = [service for service in SERVICES.values() if not service.missing_packages()]
    resolved = resolve_all(installed, settings_of(arguments), os.environ, arguments.config)
    findings = list(checks.all_findings(resolved))
    columns = (Column("check"), Column("verdict", _STYLES.get), Column("found"), Column("what_to_do"))
    if arguments.output == TABLE:
        _show(findings)
    else:
        rows = [(one.check, one.verdict.value, one.found, one.remedy or None) for one in findings]
        output.write(sys.stdout, arguments.output, columns, rows)
    return EXIT_BROKEN if any(one.verdict is Verdict.BAD for one in findings) else 0


def _show(findings: list[Finding]) -> None:
    """Sentences are too long for a table: one below the other."""
    width = max(len(one.check) for one in findings)
    for one in findings:
        verdict = styled(f"{one.verdict.value:<4}", _STYLES[one.verdict.value], sys.stdout)
        print(f"{verdict}  {one.check:<{width}}  {one.found}")
        if one.remedy:
            print(f"{'':{width + 8}}{one.remedy}")
    bad = sum(one.verdict is Verdict.BAD for one in findings)
    odd = sum(one.verdict is Verdict.ODD for one in findings)
    if bad:
        print(f"\n{bad} of {len(findings)} checks failed; what to do stands below each.")
    elif odd:
        print(f"\nIt will run. {odd} of {len(findings)} checks found something to look at.")
    else:
        print(f"\nAll {len(findings)} checks are fine.")
