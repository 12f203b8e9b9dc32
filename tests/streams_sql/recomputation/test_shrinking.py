"""A wrong host is found out, and its failing cases are made small."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tests.streams_sql.recomputation.cases import Case, random_case
from tests.streams_sql.recomputation.comparison import verdict
from tests.streams_sql.recomputation.local_host import LocalHost
from tests.streams_sql.recomputation.outcomes import Outcome
from tests.streams_sql.recomputation.shrinking import shrunk
from tests.streams_sql.recomputation.sources import Record

SEEDS = range(100, 120)
ATTEMPTS_MAX = 150


class ForgetfulHost(LocalHost):
    """Loses the last record of each source that has more than three."""

    def outcomes(self, cases: list[Case]) -> Iterator[Outcome | Exception]:
        return super().outcomes([replace(case, records=_forgotten(case)) for case in cases])


def _forgotten(case: Case) -> tuple[Record, ...]:
    kept = list(case.records)
    for source in case.sources:
        mine = [record for record in kept if record.source == source.name]
        if len(mine) > 3:
            kept.remove(mine[-1])
    return tuple(kept)


def test_a_case_is_shrunk_to_the_records_that_it_needs() -> None:
    host = ForgetfulHost()
    wrong = next(case for case in map(random_case, SEEDS) if len(case.records) > 20 and verdict(host, case).is_wrong)
    smallest = shrunk(wrong, lambda case: verdict(host, case).is_wrong, ATTEMPTS_MAX)
    assert verdict(host, smallest).is_wrong
    assert len(smallest.records) < len(wrong.records) / 2
    assert len(smallest.query.text) <= len(wrong.query.text)
