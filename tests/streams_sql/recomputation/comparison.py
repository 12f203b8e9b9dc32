"""Compares what a host makes of a case with the recomputation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from streams_sql.problem import SqlProblem
from tests.streams_sql.recomputation.cases import Case
from tests.streams_sql.recomputation.outcomes import Outcome
from tests.streams_sql.recomputation.queries import Select
from tests.streams_sql.recomputation.recomputation import Mode, recomputed


class Host(Protocol):
    """Runs queries. `mode` says whether a query waits for more records."""

    @property
    def mode(self) -> Mode: ...

    def takes(self, query: Select) -> bool:
        """Whether the host has such queries at all."""

    def outcomes(self, cases: list[Case]) -> Iterable[Outcome | Exception]:
        """What comes of each case, in their order. SqlProblem where the query is rejected."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """`difference` is empty where the host is right. With `is_rejected`, the statement was, for the reason that is there instead."""

    case: Case
    difference: tuple[str, ...] = ()
    is_rejected: bool = False

    @property
    def is_wrong(self) -> bool:
        return bool(self.difference) and not self.is_rejected

    def __str__(self) -> str:
        return "\n".join([str(self.case), *self.difference])


def verdicts(host: Host, cases: list[Case]) -> Iterable[Verdict]:
    for case, found in zip(cases, host.outcomes(cases), strict=True):
        if isinstance(found, SqlProblem):
            yield Verdict(case, (str(found),), is_rejected=True)
        elif isinstance(found, Exception):
            yield Verdict(case, (f"{type(found).__name__}: {found}",))
        else:
            expected = recomputed(case.query, case.records, host.mode)
            yield Verdict(case, tuple(expected.difference(found)))


def verdict(host: Host, case: Case) -> Verdict:
    (found,) = verdicts(host, [case])
    return found
