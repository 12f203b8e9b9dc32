"""Ours beside any number of peers: what was measured on whom, the table that a run prints, and the JSON that it leaves behind."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from benchmarks.job import Figures, LoadFailed
from benchmarks.report import Json, Results, cell, machine, number
from benchmarks.spread import Target, Verdict, ratio
from benchmarks.turns import say
from benchmarks.wire import UnexpectedAnswer

OURS: Final = "ours"
# What a measurement may fail with; a row that fails is reported, and the others go on.
FAILURES = (LoadFailed, UnexpectedAnswer, OSError, TimeoutError)


@dataclass(frozen=True, slots=True)
class Aim:
    """A bound on the figure itself or, with the name of a peer, on the ratio ours : theirs."""

    target: Target
    peer: str | None = None


@dataclass(frozen=True, slots=True)
class Metric:
    """One line of the report."""

    key: str
    title: str
    unit: str
    aims: tuple[Aim, ...] = ()


class Contestant(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def title(self) -> str: ...


class Row(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def metrics(self) -> tuple[Metric, ...]: ...


@dataclass(slots=True)
class Comparison:
    """What was measured on whom; `absent` tells why a peer is not among them."""

    contestants: Sequence[Contestant]
    rows: Sequence[Row]
    results: Results = field(default_factory=Results)
    absent: dict[str, str] = field(default_factory=dict)

    @property
    def peers(self) -> list[Contestant]:
        return [contestant for contestant in self.contestants if contestant.name != OURS]

    def record(self, row: Row, contestant: Contestant, measure: Callable[[], Figures]) -> None:
        """Measures once, and keeps the figures or the failure."""
        try:
            figures = measure()
        except FAILURES as failure:
            self.results.failures[row.name] = f"{contestant.title}: {type(failure).__name__}: {failure}"
            say(f"{row.name} {contestant.title} FAILED: {failure}")
            return
        self.results.add(row.name, contestant.name, figures)
        shown = ", ".join(f"{m.key} {number(figures[m.key])}" for m in row.metrics if m.key in figures)
        say(f"{row.name} {contestant.title}: {shown}")

    def ratio(self, row: Row, metric: Metric, peer: str) -> float | None:
        """Ours over theirs."""
        ours = self.results.spread(row.name, OURS, metric.key)
        theirs = self.results.spread(row.name, peer, metric.key)
        return ratio(ours, theirs) if ours and theirs else None

    def verdicts(self, row: Row, metric: Metric) -> Iterator[tuple[Aim, float, Verdict]]:
        """Each aim that can be judged, with the value that it is about."""
        ours = self.results.spread(row.name, OURS, metric.key)
        for aim in metric.aims:
            value = self.ratio(row, metric, aim.peer) if aim.peer else (ours.median if ours else None)
            if value is not None:
                yield aim, value, aim.target.verdict(value)

    def title(self, aim: Aim) -> str:
        """`≥ 5 times Karapace`, or the bound alone."""
        titles = {contestant.name: contestant.title for contestant in self.contestants}
        return f"{aim.target} times {titles[aim.peer]}" if aim.peer else str(aim.target)


def line(comparison: Comparison, row: Row, metric: Metric) -> str:
    ratios = (comparison.ratio(row, metric, peer.name) for peer in comparison.peers)
    verdicts = [
        f"{comparison.title(aim)}: {'**missed**' if verdict == 'missed' else verdict}"
        for aim, _, verdict in comparison.verdicts(row, metric)
    ]
    cells = [
        f"{metric.title}, {metric.unit}",
        *(
            cell(comparison.results.spread(row.name, contestant.name, metric.key))
            for contestant in comparison.contestants
        ),
        *(f"{value:.2f}" if value is not None else "-" for value in ratios),
        ", ".join(verdicts),
    ]
    return "| " + " | ".join(cells) + " |"


def table(comparison: Comparison) -> str:
    titles = [contestant.title for contestant in comparison.contestants]
    heading = ["median (min-max)", *titles, *(f"ours : {peer.title}" for peer in comparison.peers), "targets"]
    lines = ["| " + " | ".join(heading) + " |", "|---" * len(heading) + "|"]
    for row in comparison.rows:
        if row.name in comparison.results.figures:
            lines += [line(comparison, row, metric) for metric in row.metrics]
        if row.name in comparison.results.failures:
            failure = " ".join(comparison.results.failures[row.name].split())
            lines.append(f"| {row.name} | **failed**: {failure} |" + " |" * (len(heading) - 2))
    return "\n".join(lines)


def misses(comparison: Comparison) -> list[str]:
    return [
        f"{row.name}, {metric.title}: {number(value)}, target {comparison.title(aim)}"
        for row in comparison.rows
        for metric in row.metrics
        for aim, value, verdict in comparison.verdicts(row, metric)
        if verdict == "missed"
    ]


def page(comparison: Comparison, settings: Json, conditions: Sequence[str]) -> str:
    """What a run prints; `conditions` are lines that say under which everybody was measured."""
    missed = misses(comparison)
    quick = ", quick" if settings["quick"] else ""
    lines = [
        f"{', '.join(machine().values())}; {settings['repeat']} turns each, {settings['seconds']} s in all{quick}.",
        *conditions,
        "",
        table(comparison),
        "",
        *(f"Left out: {name}: {reason}" for name, reason in comparison.absent.items()),
        f"Missed targets: {len(missed)}." if missed else "No target missed.",
        *(f"* {text}" for text in missed),
    ]
    return "\n".join(lines) + "\n"


def document(comparison: Comparison, settings: Json) -> Json:
    """Every single measurement, with the ratios and verdicts of the table."""
    lines = [
        {
            "row": row.name,
            "key": metric.key,
            "title": metric.title,
            "unit": metric.unit,
            "ratios": {peer.name: comparison.ratio(row, metric, peer.name) for peer in comparison.peers},
            "targets": {comparison.title(aim): verdict for aim, _, verdict in comparison.verdicts(row, metric)},
        }
        for row in comparison.rows
        for metric in row.metrics
    ]
    return {
        "machine": machine(),
        "settings": settings,
        "lines": lines,
        "absent": comparison.absent,
        "failures": comparison.results.failures,
        "figures": comparison.results.figures,
    }
