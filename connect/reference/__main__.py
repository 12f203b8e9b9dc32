"""`python -m connect.reference PAGE` writes the settings of all connectors into a Markdown page."""

from __future__ import annotations

import sys
from pathlib import Path

from connect.reference.page import with_reference


def main(words: list[str]) -> None:
    page = Path(words[0]) if words else Path("docs/connectors.md")
    page.write_text(with_reference(page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
