"""Whatever README and docs/ tell people to type is typed, page by page, at a platform that runs."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from barnabas.cli.command_parser import command_parser
from tests.docs.pages import PAGES, ROOT, Block, blocks
from tests.docs.reader import Reader, matches
from tests.platform_process import PlatformProcess
from tests.sql_service import QUICK_SPARK

PAGE_DEADLINE_S = 400
BLOCKS = {page: blocks(page) for page in PAGES}
LEFT_OUT = [block for page in BLOCKS.values() for block in page if block.not_run]
EVERY_PAGE = [
    *PAGES.values(),
    *sorted((ROOT / "docs" / "reference").glob("*.md")),
    ROOT / "DESIGN.md",
    ROOT / "GAPS.md",
]
_COMMAND = re.compile(r"`(barnabas [^`…]+)`")
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_TITLE = re.compile(r"^#+ (.+)$", re.MULTILINE)


@pytest.fixture(scope="module")
def platform(spark_jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlatformProcess]:
    made = PlatformProcess(tmp_path_factory.mktemp("docs"), QUICK_SPARK)
    made.start()
    yield made
    made.stop()


@pytest.mark.timeout(PAGE_DEADLINE_S)
@pytest.mark.parametrize("page", [page for page, found in BLOCKS.items() if any(block.is_run for block in found)])
def test_what_a_page_says_works(page: str, platform: PlatformProcess, tmp_path: Path) -> None:
    reader = Reader(platform, tmp_path)
    try:
        for block in BLOCKS[page]:
            reader.read(block)
    finally:
        reader.leave()


@pytest.mark.parametrize("block", LEFT_OUT, ids=lambda block: block.place)
def test_what_is_not_run_is_a_command_of_ours_at_least(block: Block) -> None:
    for line in block.text.replace("\\\n", "").splitlines():
        if line.startswith("barnabas "):
            parse(line.partition(" #")[0].rstrip(" &"))
    pytest.skip(f"{block.place} is not run: {block.not_run}")


@pytest.mark.parametrize("page", list(PAGES))
def test_commands_within_sentences_exist(page: str) -> None:
    text = re.sub(r"^```.*?^```$", "", PAGES[page].read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    for command in _COMMAND.findall(text):
        if not re.search(r"[|{}<>]", command):
            parse(command)


def parse(line: str) -> None:
    """The command line is one of ours. Its beginning may stand for all that begin so: `barnabas schemas`."""
    words = shlex.split(line)[1:]
    parser = command_parser().load_all()
    known = [action for action in parser._actions if action.choices is not None]
    while known and words and words[0] in (choices := known[0].choices or {}) and isinstance(choices, dict):
        parser, words = choices[words[0]], words[1:]
        known = [action for action in parser._actions if isinstance(action.choices, dict)]
        if not words:
            return
    try:
        parser.parse_args(words)
    except SystemExit as ended:
        raise AssertionError(f"{line}: this is no command") from ended


def test_a_command_that_does_not_exist_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    parse("barnabas schemas")
    for line in ("barnabas shcemas list", "barnabas topics list --colour", "barnabas up --only"):
        with pytest.raises(AssertionError):
            parse(line)
    capsys.readouterr()


def test_links_lead_somewhere() -> None:
    broken = [f"{path.name}: {link}" for path in EVERY_PAGE for link in _links(path) if not _leads(path, link)]
    assert broken == []


def _links(path: Path) -> list[str]:
    text = re.sub(r"^```.*?^```$|`[^`\n]*`", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    return [link for link in _LINK.findall(text) if "://" not in link]


def _leads(path: Path, link: str) -> bool:
    name, _, anchor = link.partition("#")
    target = (path.parent / name).resolve() if name else path
    if not target.exists():
        return False
    titles = [_anchor(title) for title in _TITLE.findall(target.read_text(encoding="utf-8"))] if anchor else []
    return not anchor or anchor in titles


def _anchor(title: str) -> str:
    """As the places where Markdown is shown make it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def test_every_page_is_in_the_index() -> None:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    names = [
        path.relative_to(ROOT / "docs") for path in sorted((ROOT / "docs").rglob("*.md")) if path.name != "README.md"
    ]
    assert [str(name) for name in names if f"({name})" not in index] == []


def test_dots_stand_for_anything() -> None:
    assert matches("a   1\nb  2  \n", "a 1\nb 2\n")
    assert matches("id: 17\nmore\n", "id: …\nmore\n")
    assert not matches("id: 17\nless\n", "id: …\nmore\n")
    assert not matches("", "something\n")


def test_the_two_commands_of_the_readme() -> None:
    """`make up` starts what the other tests of this file are run at."""
    words = ["make", "--dry-run", "--always-make", "up", "test"]
    told = subprocess.run(
        words, cwd=ROOT, capture_output=True, text=True, env={**os.environ, "MAKEFLAGS": ""}, check=True
    )
    lines = told.stdout.splitlines()
    assert ".venv/bin/barnabas up" in lines
    assert "deploy/virtual_environment.py .venv --extra all" in told.stdout
    assert ".venv/bin/python -m pytest " in told.stdout
    text = PAGES["README.md"].read_text(encoding="utf-8")
    assert re.search(r"^make up\b", text, re.MULTILINE)
    assert re.search(r"^make test\b", text, re.MULTILINE)
