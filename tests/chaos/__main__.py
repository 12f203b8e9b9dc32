"""Chaos: any process of the platform is killed every 20 seconds under load of REST, Connect and SQL; then every count must reconcile.

`python -m tests.chaos --minutes 30` prints what was killed and what was found, and fails when anything is lost, or there twice
where it must not be.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import threading
import time
from pathlib import Path

from tests.chaos.flows import set_up
from tests.chaos.judgement import Judge
from tests.chaos.loads import LineLoad, RestLoad, RowLoad
from tests.chaos.stage import ChaosPlatform, Harm

POSTERS = 4


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--every", type=float, default=20.0, help="seconds between two kills")
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    parser.add_argument("--keep", type=Path, help="a folder for data and logs, which stays")
    chosen = parser.parse_args()
    _say(f"{chosen.minutes:g} minutes, a kill every {chosen.every:g} s, seed {chosen.seed}")
    with tempfile.TemporaryDirectory(prefix="barnabas-chaos-") as home:
        violations = run(chosen.keep or Path(home), chosen.minutes * 60, chosen.every, chosen.seed)
    for violation in violations:
        _say(violation)
    _say(f"violations: {len(violations)}")
    sys.exit(1 if violations else 0)


def run(folder: Path, seconds: float, every_s: float, seed: int) -> list[str]:
    platform = ChaosPlatform(folder / "platform")
    platform.start()
    try:
        rows, lines = RowLoad(folder / "source.db"), LineLoad(folder / "lines.txt")
        set_up(platform.addresses, folder)
        posters = [RestLoad(number, platform.addresses) for number in range(POSTERS)]
        loads = (*posters, rows, lines)
        for load in loads:
            load.start()
        try:
            _harm(platform, seconds, every_s, seed)
        finally:
            for load in loads:
                load.stop()
        judge = Judge(platform.addresses, folder, posters, lines)
        violations = []
        for check in judge.checks():
            found = check.verdict()
            _say(f"{check.title}: {'all well' if not found else 'NOT WELL'}")
            violations += found
        _say(judge.summary())
        return violations
    finally:
        platform.stop()


def _harm(platform: ChaosPlatform, seconds: float, every_s: float, seed: int) -> None:
    harm = Harm(platform, seed)
    never = threading.Event()
    end = time.monotonic() + seconds
    while time.monotonic() + every_s < end:
        never.wait(every_s)
        _say(f"{end - time.monotonic():5.0f} s left: killed {harm.strike()}")
    never.wait(max(0.0, end - time.monotonic()))
    _say("killed: " + ", ".join(f"{what} {count}" for what, count in harm.kills.most_common()))


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
