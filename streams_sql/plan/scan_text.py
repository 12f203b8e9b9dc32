"""A look at topics as people read it: its steps, and which records are read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from streams_sql.plan.bounded import BoundedPlan, Look, ScanPlan
from streams_sql.plan.bounded_text import bounded_text
from streams_sql.plan.nodes import PullPlan
from streams_sql.plan.spans import ALL, Span
from streams_sql.plan.text import plan_text

HOST: Final = "Runs in the server, without Spark, up to the ends that its topics have when it begins"


def scan_text(
    scan: ScanPlan, look_plan: Callable[[Look], PullPlan], look_span: Callable[[PullPlan, Span], Span]
) -> str:
    """`look_plan` is what is read for a look, and `look_span` the part of its topic that this needs."""

    def access(plan: PullPlan) -> str:
        asked = scan.asked.get(plan.source.topic, ALL)
        span = look_span(plan, asked)
        text = f"reads of topic {plan.source.topic}: {span}"
        if span != asked:
            text = f"{text} (by the condition: {span.beyond(asked)})"
        return text if plan.limit is None else f"{text}, until the rows of LIMIT {plan.limit} are known"

    if isinstance(scan.plan, BoundedPlan):
        text = bounded_text(scan.plan, lambda look: access(look_plan(look)))
        lines = [f"reads of topic {topic}: {span}" for topic, span in scan.asked.items() if not list(scan.plan.looks)]
        return "\n".join([HOST, text, *lines])
    return "\n".join([HOST, plan_text(scan.plan), f"        {access(scan.plan)}"])
