"""The table that a run of the registry's benchmark prints and the JSON that it leaves behind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from benchmarks.registries import Name, Registry
from benchmarks.registry_rows import Aim, Metric, Row
from benchmarks.report import Json, Results, cell, machine, number
from benchmarks.spread import Verdict, ratio


@dataclass(slots=True)
class Comparison:
    """What was measured on whom; `absent` tells why a peer is not among them."""

    contestants: Sequence[Registry]
    rows: Sequence[Row]
    results: Results = field(default_factory=Results)
    absent: dict[Name, str] = field(default_factory=dict)

    @property
    def peers(self) -> list[Registry]:
        return [registry for registry in self.contestants if registry.name != "ours"]

    def ratio(self, row: Row, metric: Metric, peer: Name) -> float | None:
        """Ours over theirs."""
        ours = self.results.spread(row.name, "ours", metric.key)
        theirs = self.results.spread(row.name, peer, metric.key)
        return ratio(ours, theirs) if ours and theirs else None

    def verdicts(self, row: Row, metric: Metric) -> Iterator[tuple[Aim, float, Verdict]]:
        """Each aim that can be judged, with the value that it is about."""
        ours = self.results.spread(row.name, "ours", metric.key)
        for aim in metric.aims:
            value = self.ratio(row, metric, aim.peer) if aim.peer else (ours.median if ours else None)
            if value is not None:
                yield aim, value, aim.target.verdict(value)

    def title(self, aim: Aim) -> str:
        """`≥ 5 times Karapace`, or the bound alone."""
        titles = {registry.name: registry.title for registry in self.contestants}
        return f"{aim.target} times {titles[aim.peer]}" if aim.peer else str(aim.target)


def line(comparison: Comparison, row: Row, metric: Metric) -> str:
    ratios = (comparison.ratio(row, metric, peer.name) for peer in comparison.peers)
    verdicts = [
        f"{comparison.title(aim)}: {'**missed**' if verdict == 'missed' else verdict}"
        for aim, _, verdict in comparison.verdicts(row, metric)
    ]
    cells = [
        f"{metric.title}, {metric.unit}",
        *(cell(comparison.results.spread(row.name, registry.name, metric.key)) for registry in comparison.contestants),
        *(f"{value:.2f}" if value is not None else "-" for value in ratios),
        ", ".join(verdicts),
    ]
    return "| " + " | ".join(cells) + " |"


def table(comparison: Comparison) -> str:
    titles = [registry.title for registry in comparison.contestants]
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


def page(comparison: Comparison, settings: Json) -> str:
    """What a run prints."""
    missed = misses(comparison)
    quick = ", quick" if settings["quick"] else ""
    lines = [
        f"{', '.join(machine().values())}; {settings['repeat']} turns each, {settings['seconds']} s in all{quick}.",
        "Load, registry and broker share the machine. Registries with a topic have a broker of ours each, which syncs",
        "before it answers; acks=all. Memory and CPU are those of the registry's processes, without the broker's.",
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
