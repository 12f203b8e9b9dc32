"""`barnabas demo`: a tour of a running platform, each step as the command that a person would type."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from barnabas.cli import output
from barnabas.cli.command_error import CommandError
from barnabas.cli.command_parser import add_report_form
from barnabas.cli.demo.removal import LEFT, remove
from barnabas.cli.demo.steps import DATABASE, PICTURE, Step, Urls, steps
from barnabas.cli.platform.addresses import PlatformAddresses, add_addresses, addresses_of
from barnabas.cli.status.services import NoAnswer, ask
from barnabas.cli.terminal import styles
from barnabas.cli.terminal.styles import styled

COMMAND_TIMEOUT_S: Final = 120.0
RESULT_TIMEOUT_S: Final = 180.0
"""The first query waits for Spark's start."""
AGAIN_S: Final = 1.0
LINE_MAX_CHARACTERS: Final = 200
"""An answer that repeats a whole configuration is cut."""
NEEDED: Final = {"registry": "/subjects", "rest": "/topics", "connect": "/", "sql": "/info"}


def add_arguments(parser: ArgumentParser) -> None:
    parser.description = (
        "Take a small shop from a database to results and back, each step as the command that a person would type."
    )
    add_addresses(parser)
    parser.add_argument("--folder", metavar="FOLDER", help="where its files go; a new folder when left out")
    end = parser.add_mutually_exclusive_group()
    end.add_argument("--keep", action="store_true", help="leave all it has made for you to look at")
    end.add_argument(
        "--remove", action="store_true", help="only remove what a demo has left: kept, or not come to its end"
    )
    add_report_form(parser)


def run(arguments: Namespace) -> int:
    began = time.monotonic()
    platform = addresses_of(arguments)
    check(platform)
    urls = Urls(*(platform.addresses[name] for name in ("registry", "rest", "connect")))
    environment = _environment(platform)
    remove(urls, lambda command: _call(command, environment))
    if arguments.remove:
        output.report(arguments.output, {"removed": True, "steps": []}, "What a demo has left is removed.")
        return 0
    folder = Path(arguments.folder or tempfile.mkdtemp(prefix="barnabas-demo-")).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / DATABASE).unlink(missing_ok=True)
    try:
        done = _show(steps(folder, urls), environment, arguments.output)
    except BaseException:
        print(LEFT.format(folder=folder), file=sys.stderr)
        raise
    if arguments.keep:
        text = f"Everything is still there; its files are in {folder}. `barnabas demo --remove` removes all but these."
        content = {"removed": False, "folder": str(folder), "steps": done}
        output.report(arguments.output, content, f"{_took(began)} {text}")
        return 0
    remove(urls, lambda command: _call(command, environment))
    if arguments.folder is None:
        shutil.rmtree(folder, ignore_errors=True)
    text = f"{_took(began)} What it has made is removed; --keep leaves it."
    output.report(arguments.output, {"removed": True, "steps": done}, text)
    return 0


def _show(chosen: Sequence[Step], environment: Mapping[str, str], form: str) -> list[dict[str, str]]:
    """Take the steps, and return each with its output; people see them as they go."""
    done = []
    for step in chosen:
        printed = _take(step, environment, is_shown=form != output.JSON)
        done.append({"title": step.title, "command": step.command, "output": printed})
    if form != output.JSON:
        print(PICTURE, flush=True)
    return done


def _took(began: float) -> str:
    return f"That took {time.monotonic() - began:.0f} s in all."


def check(platform: PlatformAddresses) -> None:
    if shutil.which("curl") is None:
        raise CommandError("the demo shows what people type, and curl is not installed", "Install it: apt install curl")
    if "broker" not in platform.addresses:
        raise CommandError("the demo needs a broker", "Name one: --bootstrap-server HOST:PORT")
    for name, path in NEEDED.items():
        if name not in platform.addresses:
            raise CommandError(f"the platform has no {name}", "Start all services: barnabas up")
        try:
            ask(platform.addresses[name] + path)
        except NoAnswer as unanswered:
            raise CommandError(
                f"{name} does not answer at {platform.addresses[name]}: {unanswered}",
                "Start the platform in another terminal: barnabas up. If it runs on another folder: --data-dir FOLDER",
                3,
            ) from None


def _take(step: Step, environment: Mapping[str, str], *, is_shown: bool) -> str:
    if is_shown:
        _show_command(step)
    deadline = time.monotonic() + RESULT_TIMEOUT_S
    while True:
        done = _call(step.command, environment)
        is_there = done.returncode == 0 and (step.until is None or step.until.search(done.stdout) is not None)
        if is_there or step.until is None or time.monotonic() > deadline:
            break
        time.sleep(AGAIN_S)
    for line in done.stdout.rstrip().splitlines() if is_shown else ():
        print(line if len(line) <= LINE_MAX_CHARACTERS else f"{line[:LINE_MAX_CHARACTERS]}…", flush=True)
    if not is_there:
        raise CommandError(
            f"this step has failed: {step.command}: {done.stderr.strip() or 'its result has not come'}",
            "`barnabas status` shows how the services are, and their log has more.",
        )
    return done.stdout


def _show_command(step: Step) -> None:
    if step.title:
        print("\n" + styled(f"# {step.title}", styles.BOLD, sys.stdout))
    for line in f"$ {step.command}".split("\n"):
        print(styled(line, styles.CYAN, sys.stdout), flush=True)


def _call(command: str, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    # Our own words, quoted for the shell; nothing of it is anybody's input.
    return subprocess.run(
        ["/bin/sh", "-c", command],
        env=environment,
        capture_output=True,
        text=True,
        timeout=COMMAND_TIMEOUT_S,
        check=False,
    )


def _environment(platform: PlatformAddresses) -> dict[str, str]:
    """So that `barnabas` and `python3` are ours, and find the platform."""
    scripts = Path(sys.executable).parent
    return {
        **os.environ,
        "PATH": f"{scripts}{os.pathsep}{os.environ.get('PATH', '')}",
        "BARNABAS_DATA_DIR": str(platform.data_directory.absolute()),
        "KAFKA_BOOTSTRAP_SERVERS": platform.addresses["broker"],
        "SCHEMA_REGISTRY_URL": platform.addresses["registry"],
        "REST_PROXY_URL": platform.addresses["rest"],
        "CONNECT_URL": platform.addresses["connect"],
        "KSQL_URL": platform.addresses["sql"],
    }
