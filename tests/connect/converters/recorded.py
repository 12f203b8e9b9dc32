"""What Java's converters wrote for the cases: `recorded.json`, by format and case."""

import json
from pathlib import Path
from typing import Any

_RECORDED = json.loads((Path(__file__).parent / "recorded.json").read_text())


def recorded(form: str) -> list[Any]:
    """Pairs of a case's name and what was recorded for it."""
    return list(_RECORDED[form].items())
