"""The table that a run prints and the JSON that it leaves behind."""

from __future__ import annotations

import datetime
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.contestants import KAFKA_VERSION
from benchmarks.job import Figures
from benchmarks.rows import Metric, Row
from benchmarks.spread import Spread, ratio

Json = dict[str, Any]


@dataclass(slots=True)
class Results:
    """Everything that was measured, in the order in which it was measured."""

    figures: dict[str, dict[str, list[Figures]]] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    floor: list[Figures] = field(default_factory=list)

    def add(self, row: str, name: str, figures: Figures) -> None:
        self.figures.setdefault(row, {}).setdefault(name, []).append(figures)

    def spread(self, row: str, name: str, key: str) -> Spread | None:
        return _spread(self.figures.get(row, {}).get(name, []), key)

    def best_floor(self, key: str) -> float | None:
        """The most that the bare machine did in any turn: rates end in `_s`, everything else is a cost."""
        found = _spread(self.floor, key)
        if found is None:
            return None
        return found.high if key.endswith("_s") else found.low


def _spread(samples: Sequence[Mapping[str, float]], key: str) -> Spread | None:
    values = tuple(sample[key] for sample in samples if key in sample)
    return Spread(values) if values else None


def number(value: float) -> str:
    """Three significant digits, and never fewer than the integer has."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def cell(spread: Spread | None) -> str:
    if spread is None:
        return "-"
    if len(spread.values) == 1:
        return number(spread.median)
    return f"{number(spread.median)} ({number(spread.low)}-{number(spread.high)})"


def line(results: Results, row: Row, metric: Metric) -> str:
    ours, theirs = results.spread(row.name, "ours", metric.key), results.spread(row.name, "kafka", metric.key)
    found = ratio(ours, theirs) if ours and theirs else None
    verdict = metric.target.verdict(found) if metric.target and found is not None else ""
    floor = results.best_floor(metric.floor)
    distance = ours.median / floor if ours and floor else None
    cells = [
        f"{metric.title}, {metric.unit}",
        cell(ours),
        cell(theirs),
        f"{found:.2f}" if found is not None else "-",
        str(metric.target) if metric.target else "",
        f"**{verdict}**" if verdict == "missed" else verdict,
        number(floor) if floor else "",
        f"{distance:.2f}" if distance is not None else "",
    ]
    return "| " + " | ".join(cells) + " |"


def table(results: Results, rows: Sequence[Row]) -> str:
    heading = (
        "",
        "ours: median (min-max)",
        f"Kafka {KAFKA_VERSION}",
        "ours : Kafka",
        "target",
        "",
        "floor (best)",
        "ours : floor",
    )
    lines = ["| " + " | ".join(heading) + " |", "|---" * len(heading) + "|"]
    for row in rows:
        if row.name in results.figures:
            lines += [line(results, row, metric) for metric in row.metrics]
        if row.name in results.failures:
            lines.append(f"| {row.name} | **failed**: {results.failures[row.name]} |" + " |" * (len(heading) - 2))
    return "\n".join(lines)


def misses(results: Results, rows: Sequence[Row]) -> list[str]:
    found = []
    for row in rows:
        for metric in row.metrics:
            ours, theirs = results.spread(row.name, "ours", metric.key), results.spread(row.name, "kafka", metric.key)
            value = ratio(ours, theirs) if ours and theirs else None
            if metric.target and value is not None and metric.target.verdict(value) == "missed":
                found.append(f"{row.name}, {metric.title}: {value:.2f}, target {metric.target}")
    return found


def page(results: Results, rows: Sequence[Row], settings: Json) -> str:
    """What a run prints."""
    facts = ", ".join(machine().values())
    missed = misses(results, rows)
    lines = [
        f"{facts}; {settings['repeat']} turns each, {settings['seconds']} s in all{', quick' if settings['quick'] else ''}.",
        "MB are 10^6 bytes of record values; CPU is of the broker's processes, per GB of record values.",
        "",
        table(results, rows),
        "",
        f"Missed targets: {len(missed)}." if missed else "No target missed.",
        *(f"* {text}" for text in missed),
    ]
    return "\n".join(lines) + "\n"


def machine() -> dict[str, str]:
    model = "unknown processor"
    for text in Path("/proc/cpuinfo").read_text().splitlines():
        if text.startswith("model name"):
            model = text.split(":", 1)[1].strip()
            break
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "processor": f"{os.cpu_count()} x {model}",
        "memory": f"{memory:.0f} GiB",
        "kernel": platform.release(),
        "python": platform.python_version(),
        "when": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
    }


def document(results: Results, rows: Sequence[Row], settings: Json) -> Json:
    """Every single measurement, with what the table says about it."""
    found: list[Json] = []
    for row in rows:
        for metric in row.metrics:
            ours, theirs = results.spread(row.name, "ours", metric.key), results.spread(row.name, "kafka", metric.key)
            value = ratio(ours, theirs) if ours and theirs else None
            found.append(
                {
                    "row": row.name,
                    "key": metric.key,
                    "title": metric.title,
                    "unit": metric.unit,
                    "ours": ours.values if ours else None,
                    "kafka": theirs.values if theirs else None,
                    "ratio": value,
                    "target": str(metric.target) if metric.target else None,
                    "verdict": metric.target.verdict(value) if metric.target and value is not None else None,
                }
            )
    return {
        "machine": machine(),
        "settings": settings,
        "lines": found,
        "floor": results.floor,
        "failures": results.failures,
        "figures": results.figures,
    }
