"""The Python on the pages that imports our packages passes the type checker."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import PAGES, ROOT, Block, blocks

PUBLIC = ("barnabas.connect", "barnabas.sql", "barnabas.testing")


def examples() -> list[Block]:
    found = [block for page in PAGES for block in blocks(page) if block.language == "python"]
    return [block for block in found if any(name in block.text for name in PUBLIC)]


@pytest.mark.long
def test_examples_pass_the_type_checker(tmp_path: Path) -> None:
    for number, block in enumerate(examples()):
        (tmp_path / (block.file or f"example_{number}.py")).write_text(block.text)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert {name for name in PUBLIC for block in examples() if name in block.text} == set(PUBLIC)
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--check-untyped-defs", "--config-file=", *names],
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout
