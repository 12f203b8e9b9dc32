"""Pieces of Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def cell(text: str) -> str:
    """Plain words within a table; what would be a mark is shown as it is."""
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "\\<").replace("*", "\\*").replace("\n", " ")


def code(text: str) -> str:
    """A value as it is typed. Within a table only the bar has a meaning of its own."""
    return f"`{text}`".replace("|", "\\|") if text else ""


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    lines.extend("| " + " | ".join(row) + " |" for row in rows)
    return "\n".join(lines)


def page(title: str, *blocks: str) -> str:
    """A whole page. What stands in its first lines tells readers and authors where it comes from."""
    made = "This page is made from the declarations in the code: `python -m barnabas.reference`."
    return "\n\n".join([f"# {title}", made, *(block for block in blocks if block)]) + "\n"
