"""What lies in deploy/ for others to start us with: it can be read, its command lines and settings are ours, its queries name what we tell."""

from __future__ import annotations

import json
import re
import shlex
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from barnabas.cli.main import main
from barnabas.embedded.broker import EmbeddedBroker
from barnabas.services import SERVICES
from connect.http import task_metrics
from connect.tasks.spec import TaskId
from streams_sql.engine.metrics import EngineMetrics
from streams_sql.http import query_metrics
from tests.connect_service import ConnectProcess
from tests.ports import free_port
from tests.registry import RegistryProcess
from tests.rest import RestProcess

DEPLOY = Path(__file__).parents[2] / "deploy"
COMPOSE = sorted((DEPLOY / "container").glob("compose*.yaml"))
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
DASHBOARDS = sorted((DEPLOY / "grafana").glob("*.json"))
# Names of metrics, of which some are patterns; functions of PromQL and labels are none.
METRIC = re.compile(r"\b(?:kafka|schema_registry|rest_proxy|connect|streams_sql|process)_[a-z0-9_]+\b(?!\()")
TASK_FIGURES = (
    "retries-total", "record-failures-total", "records-skipped-total", "deadletterqueue-produce-total",
    "source-record-write-total", "sink-record-send-total",
)  # fmt: skip


def settings_hold(words: list[str], environment: Mapping[str, str]) -> None:
    """The words are a command line of ours, and its settings and those of the variables exist and have values that they may have."""
    assert words[0] in ("serve", "up"), words
    services = [SERVICES[words[1]]] if words[0] == "serve" else list(SERVICES.values())
    flags: dict[str, str] = {}
    rest = iter(words[2:] if words[0] == "serve" else words[1:])
    for word in rest:
        value = next(rest)
        if word == "--set":
            name, _, value = value.partition("=")
            flags[name] = value
        elif word == "--schema-registry-url":
            (service,) = services
            assert service.registry_setting is not None
            flags[service.registry_setting] = value
        else:
            flags[word.removeprefix("--").replace("-", ".")] = value
    for service in services:
        resolved = service.resolve(flags, environment, None, platform=words[0] == "up").settings
        assert not [remark for remark in resolved.remarks if "BARNABAS" in remark], resolved.remarks
        given = {name for name in resolved.catalogue if resolved.is_given(name)}
        assert given or not environment, service.name


def test_every_setting_of_a_variable_is_taken_by_a_service() -> None:
    """The check below would notice a name that nobody knows."""
    with pytest.raises(Exception, match="BARNABAS_REGISTRY_HOST_NAMES"):
        settings_hold(["serve", "registry"], {"BARNABAS_REGISTRY_HOST_NAMES": "x"})


@pytest.mark.parametrize("path", COMPOSE, ids=lambda path: path.name)
def test_compose_files(path: Path) -> None:
    services: dict[str, Any] = yaml.safe_load(path.read_text())["services"]
    ours = {name: one for name, one in services.items() if one["image"] == "barnabas" and "command" in one}
    assert set(ours) >= {"registry", "rest", "connect", "sql"}
    for one in ours.values():
        settings_hold(one["command"], {name: str(text) for name, text in one.get("environment", {}).items()})
        assert one["read_only"] is True
        assert all(port.startswith("127.0.0.1:") for port in one["ports"]), "reachable from this machine alone"
        assert (DEPLOY / "container" / one["build"]["context"] / one["build"]["dockerfile"]).resolve().exists()


def pods() -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Each container with the ConfigMap that its variables come from."""
    documents = list(yaml.safe_load_all((DEPLOY / "kubernetes" / "barnabas.yaml").read_text()))
    (config,) = [one["data"] for one in documents if one["kind"] == "ConfigMap"]
    for document in documents:
        if document["kind"] in ("Deployment", "StatefulSet"):
            assert document["spec"]["template"]["spec"]["securityContext"]["runAsNonRoot"] is True
            (container,) = document["spec"]["template"]["spec"]["containers"]
            yield container, config


def test_kubernetes() -> None:
    started = set()
    for container, config in pods():
        started.add(container["name"])
        variables = {one["name"]: str(one.get("value", "10.0.0.1")) for one in container.get("env", ())}
        settings_hold(container["args"], {**(config if "envFrom" in container else {}), **variables})
        assert container["securityContext"]["readOnlyRootFilesystem"] is True
        assert {"readinessProbe", "livenessProbe", "resources"} <= set(container)
        # A service that waits for Kafka is not ready, and to start it anew would help nobody.
        assert container["livenessProbe"]["httpGet"]["path"] == "/health/live"
    assert started == set(SERVICES)


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_systemd_units(path: Path, tmp_path: Path) -> None:
    lines = dict(line.split("=", 1) for line in path.read_text().splitlines() if "=" in line and line[0] != "#")
    names = list(SERVICES) if "@" in path.name else [""]
    for name in names:
        program, *words = shlex.split(lines["ExecStart"].replace("%i", name))
        assert program.endswith("/bin/barnabas")
        if "--config" in words:
            place = words.index("--config")
            del words[place : place + 2]
        settings_hold(words, {})


def test_the_image_starts_what_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    text = (DEPLOY / "container" / "Containerfile").read_text()
    root = DEPLOY.parent
    for line in re.findall(r"^COPY (?!--from)(.*)$", text, re.MULTILINE):
        *sources, _ = line.split()
        assert all((root / source).exists() for source in sources), line
    (entry,) = re.findall(r"^ENTRYPOINT (.*)$", text, re.MULTILINE)
    (command,) = re.findall(r"^CMD (.*)$", text, re.MULTILINE)
    assert json.loads(entry) == ["barnabas"]
    with pytest.raises(SystemExit) as ended:
        main([*json.loads(command), "--help"])
    assert ended.value.code == 0
    assert "USER 10001" in text
    assert "usage: barnabas up" in capsys.readouterr().out


@pytest.fixture(scope="module")
def told(registry: RegistryProcess, rest_service: RestProcess, connect_service: ConnectProcess) -> set[str]:
    """The names of all metrics that we tell."""
    address = f"http://127.0.0.1:{free_port()}"
    with EmbeddedBroker({"metrics.listener": address}):
        pages = [_page(url) for url in (address, registry.url, rest_service.url, connect_service.url)]
    names = {name for page in pages for name in re.findall(r"^# TYPE (\S+)", page, re.MULTILINE)}
    figures = {TaskId("c", 0): dict.fromkeys(TASK_FIGURES, 1.0)}
    collected = (*query_metrics.families(EngineMetrics)(), *task_metrics.families(lambda: figures)())
    names |= {f"{one.name}_total" if one.type == "counter" else one.name for one in collected}
    return names | {name.replace("rest_proxy_http", "streams_sql_http") for name in names}


def _page(url: str) -> str:
    with urllib.request.urlopen(f"{url}/metrics") as answer:
        return str(answer.read().decode())


def unknown(expression: str, told: set[str]) -> set[str]:
    """Metrics of a query that nobody tells; those of a histogram have endings of their own."""
    named = set(METRIC.findall(expression))
    return {name for name in named if not {name, re.sub(r"_(bucket|count|sum)$", "", name)} & told}


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.name)
def test_dashboards_ask_for_what_is_told(path: Path, told: set[str]) -> None:
    dashboard = json.loads(path.read_text())
    expressions = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    assert len(expressions) >= len(dashboard["panels"]) > 0
    assert {expression: found for expression in expressions if (found := unknown(expression, told))} == {}


def test_alerts_ask_for_what_is_told(told: set[str]) -> None:
    groups = yaml.safe_load((DEPLOY / "prometheus" / "alerts.yml").read_text())["groups"]
    expressions = [rule["expr"] for group in groups for rule in group["rules"] if "__name__" not in rule["expr"]]
    assert {expression: found for expression in expressions if (found := unknown(expression, told))} == {}
    assert unknown("streams_sql_no_such_thing > 0", told) == {"streams_sql_no_such_thing"}


def test_prometheus_looks_at_every_service() -> None:
    jobs = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yml").read_text())["scrape_configs"]
    assert [job["job_name"].removeprefix("barnabas-") for job in jobs] == list(SERVICES)
