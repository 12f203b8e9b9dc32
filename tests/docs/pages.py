"""The pages of the documentation: their blocks, and what is said of how these run.

- A block of `sh` or `python` is run, in the order of its page, and must end with 0. What Python tests are is run by pytest.
- A block whose first line is a comment with the name of a file, and no more, is that file.
- A block of `text` behind one that is run is what that prints; `…` in it stands for anything.
- `<!-- not run: REASON -->` above a block keeps it from being run.
- `<!-- run until it prints this -->` above a block repeats it until its output is that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = {
    str(path.relative_to(ROOT)): path
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "examples").glob("*/*.md")))
}
RUN_LANGUAGES = ("sh", "python")
OUTPUT_LANGUAGE = "text"

_FENCE = re.compile(r"^```(\w*)$")
_NOT_RUN = re.compile(r"^<!-- not run: (.+) -->$")
_UNTIL = "<!-- run until it prints this -->"
_FILE = re.compile(r"^(?:#|--) ([\w-]+\.\w+)$")


@dataclass(frozen=True, slots=True)
class Block:
    """One block of a page; `line` is that of its fence, and `output` what stands behind it, if something does."""

    page: str
    line: int
    language: str
    text: str
    not_run: str = ""
    is_repeated: bool = False
    output: str | None = None

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def file(self) -> str | None:
        """The name of the file that it is."""
        found = _FILE.match(self.text.partition("\n")[0])
        return found[1] if found else None

    @property
    def is_run(self) -> bool:
        return self.language in RUN_LANGUAGES and not self.not_run


def blocks(page: str) -> list[Block]:
    """Those of one page, in order; outputs are part of the blocks that print them."""
    found: list[Block] = []
    last_output_line = 0
    for block, follows in _raw(page):
        if block.language == OUTPUT_LANGUAGE and follows and found and found[-1].language in RUN_LANGUAGES:
            found[-1] = replace(found[-1], output=block.text)
            last_output_line = block.line
        else:
            found.append(block)
    assert last_output_line or not any(block.is_repeated for block in found), f"{page}: nothing tells what it prints"
    return found


def _raw(page: str) -> Iterator[tuple[Block, bool]]:
    """Each block, and whether nothing but blanks stands between it and the one before."""
    lines = iter(enumerate(PAGES[page].read_text(encoding="utf-8").splitlines(), start=1))
    above, follows = "", False
    for number, line in lines:
        fence = _FENCE.match(line)
        if fence is None:
            if line.strip():
                above, follows = line.strip(), False
            continue
        inside: list[str] = []
        for _, text in lines:
            if text == "```":
                break
            inside.append(f"{text}\n")
        else:
            raise AssertionError(f"{page}:{number}: the block has no end")
        reason = _NOT_RUN.match(above)
        block = Block(page, number, fence[1], "".join(inside), reason[1] if reason else "", above == _UNTIL)
        yield block, follows
        above, follows = "", True
