"""`barnabas doctor`: what would keep the platform from running well, and how to mend it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

from barnabas.cli import doctor_checks, output, terminal
from barnabas.cli.doctor_checks import Finding, Verdict
from barnabas.cli.output import Column
from barnabas.services import SERVICES, resolve_all

EXIT_BROKEN: Final = 1

_STYLES: Final = {
    Verdict.GOOD.value: terminal.GREEN,
    Verdict.ODD.value: terminal.YELLOW,
    Verdict.BAD.value: terminal.RED,
}


def run(flags: dict[str, str], file: Path | None, form: str) -> int:
    """0 unless something is bad. Settings are read as `barnabas up` reads them."""
    installed = [service for service in SERVICES.values() if not service.missing_packages()]
    resolved = resolve_all(installed, flags, os.environ, file)
    findings = list(doctor_checks.all_findings(resolved))
    columns = (Column("check"), Column("verdict", _STYLES.get), Column("found"), Column("what_to_do"))
    if form == output.TABLE:
        _show(findings)
    else:
        rows = [(one.check, one.verdict.value, one.found, one.remedy or None) for one in findings]
        output.write(sys.stdout, form, columns, rows)
    return EXIT_BROKEN if any(one.verdict is Verdict.BAD for one in findings) else 0


def _show(findings: list[Finding]) -> None:
    """Sentences are too long for a table: one below the other."""
    width = max(len(one.check) for one in findings)
    colours = terminal.colours_here(sys.stdout)
    for one in findings:
        verdict = f"{one.verdict.value:<4}"
        shown = terminal.painted(verdict, _STYLES[one.verdict.value]) if colours else verdict
        print(f"{shown}  {one.check:<{width}}  {one.found}")
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
