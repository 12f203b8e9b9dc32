"""`python -m barnabas.reference` writes the pages of docs/reference, each from the declarations that it tells of."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from barnabas.reference.pages import pages


def main(words: Sequence[str]) -> None:
    """Into the folder that is named, or into that of the sources in which it is called."""
    folder = Path(words[0]) if words else Path("docs/reference")
    for name, text in pages().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
