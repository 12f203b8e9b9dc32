"""A worker that answers as Kafka Connect does, as far as the commands ask, and keeps its connectors in memory."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

from tests.ports import HOST

PLUGIN = "org.apache.kafka.connect.file.FileStreamSinkConnector"
NOT_STOPPED = "Connectors must be in the STOPPED state before their offsets can be modified."
KEY = {
    "name": "file", "type": "STRING", "required": False, "default_value": None, "importance": "HIGH", "documentation": "Destination.",
    "group": None, "width": "NONE", "display_name": "file", "dependents": [], "order_in_group": -1,
}  # fmt: skip


class Refused(Exception):
    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Connector:
    def __init__(self, name: str, config: dict[str, str], state: str) -> None:
        self.name = name
        self.config = config
        self.state = state
        self.offsets: list[dict[str, Any]] = []
        self.traces: dict[int, str] = {}
        self.tasks = 2
        self.has_status = True

    def status(self, worker_id: str) -> dict[str, Any]:
        tasks = [{"id": number, **self._state(number, worker_id)} for number in range(self._task_count)]
        connector = {"state": self.state, "worker_id": worker_id}
        return {"name": self.name, "connector": connector, "tasks": tasks, "type": "sink"}

    def info(self) -> dict[str, Any]:
        tasks = [{"connector": self.name, "task": number} for number in range(self._task_count)]
        return {"name": self.name, "config": self.config, "tasks": tasks, "type": "sink"}

    @property
    def _task_count(self) -> int:
        """A connector that is stopped has no tasks."""
        return 0 if self.state == "STOPPED" else self.tasks

    def _state(self, number: int, worker_id: str) -> dict[str, str]:
        if number in self.traces:
            return {"state": "FAILED", "worker_id": worker_id, "trace": self.traces[number]}
        return {"state": self.state, "worker_id": worker_id}


class Call(NamedTuple):
    """A request, taken apart."""

    name: str
    rest: str
    query: Mapping[str, list[str]]
    body: Any


class SmallWorker:
    """`conflicts` is how many calls are answered with a rebalance first."""

    def __init__(self) -> None:
        self.connectors: dict[str, Connector] = {}
        self.calls: list[str] = []
        self.conflicts = 0
        self.warnings: list[str] = []
        self.metrics = ""
        self._server = ThreadingHTTPServer((HOST, 0), self._handler())
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def worker_id(self) -> str:
        return f"{HOST}:{self._server.server_port}"

    @property
    def url(self) -> str:
        return f"http://{self.worker_id}"

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def add(self, name: str, config: Mapping[str, str] | None = None, state: str = "RUNNING") -> Connector:
        own = {"connector.class": PLUGIN, **(config or {}), "name": name}
        self.connectors[name] = Connector(name, own, state)
        return self.connectors[name]

    def answer(self, method: str, target: str, body: Any) -> tuple[int, Any]:
        self.calls.append(f"{method} {target}")
        if self.conflicts:
            self.conflicts -= 1
            raise Refused(
                409, "Cannot complete request momentarily due to stale configuration (typically caused by a rebalance)"
            )
        parts = urlsplit(target)
        if parts.path == "/metrics":
            return 200, self.metrics
        for pattern, work in self._routes():
            found = re.fullmatch(pattern, f"{method} {parts.path}")
            if found is not None:
                name, rest = (*found.groups(), "", "")[:2]
                return work(Call(unquote(name), rest, parse_qs(parts.query), body))
        raise Refused(404, "HTTP 404 Not Found")

    def _routes(self) -> list[tuple[str, Callable[[Call], tuple[int, Any]]]]:
        return [
            (r"GET /connectors", self._list),
            (r"POST /connectors", self._create),
            (r"PUT /connectors/([^/]+)/config", self._configure),
            (r"GET /connector-plugins", lambda call: (200, self._plugins(call))),
            (r"GET /connector-plugins/([^/]+)/config", self._keys),
            (r"PUT /connector-plugins/([^/]+)/config/validate", self._validate),
            (r"GET /connectors/([^/]+)", lambda call: (200, self._find(call).info())),
            (r"GET /connectors/([^/]+)/config", lambda call: (200, self._find(call).config)),
            (r"GET /connectors/([^/]+)/status", self._status),
            (r"GET /connectors/([^/]+)/offsets", lambda call: (200, {"offsets": self._find(call).offsets})),
            (r"PATCH /connectors/([^/]+)/offsets", self._alter),
            (r"DELETE /connectors/([^/]+)/offsets", self._reset),
            (r"PUT /connectors/([^/]+)/(pause|resume|stop)", self._target),
            (r"POST /connectors/([^/]+)/restart", self._restart),
            (r"POST /connectors/([^/]+)/tasks/(\d+)/restart", self._restart_task),
            (r"DELETE /connectors/([^/]+)", self._delete),
        ]

    def _find(self, call: Call) -> Connector:
        found = self.connectors.get(call.name)
        if found is None:
            raise Refused(404, f"Connector {call.name} not found")
        return found

    def _list(self, call: Call) -> tuple[int, Any]:
        if "expand" not in call.query:
            return 200, list(self.connectors)
        return 200, {
            name: {"status": each.status(self.worker_id), "info": each.info()}
            for name, each in self.connectors.items()
            if each.has_status
        }

    def _status(self, call: Call) -> tuple[int, Any]:
        connector = self._find(call)
        if not connector.has_status:
            raise Refused(404, f"No status found for connector {call.name}")
        return 200, connector.status(self.worker_id)

    def _create(self, call: Call) -> tuple[int, Any]:
        name = call.body["name"]
        if name in self.connectors:
            raise Refused(409, f"Connector {name} already exists")
        return 201, self.add(name, call.body["config"], call.body.get("initial_state", "RUNNING")).info()

    def _configure(self, call: Call) -> tuple[int, Any]:
        code = 200 if call.name in self.connectors else 201
        return code, self.add(call.name, call.body).info()

    def _plugins(self, call: Call) -> list[dict[str, str]]:
        found = [{"class": PLUGIN, "type": "sink", "version": "4.3.0"}]
        if call.query["connectorsOnly"] == ["false"]:
            found.append({"class": "org.apache.kafka.connect.json.JsonConverter", "type": "converter"})
        return found

    def _keys(self, call: Call) -> tuple[int, Any]:
        if not PLUGIN.endswith(call.name):
            raise Refused(404, f"Unknown plugin {call.name}.")
        return 200, [KEY]

    def _validate(self, call: Call) -> tuple[int, Any]:
        errors = [] if "topics" in call.body else ["Must configure one of topics or topics.regex"]
        configs = [{"definition": {**KEY, "name": "topics"}, "value": {"name": "topics", "errors": errors}}]
        answer = {"name": PLUGIN, "error_count": len(errors), "groups": [], "configs": configs}
        return 200, answer | ({"warnings": self.warnings} if self.warnings else {})

    def _alter(self, call: Call) -> tuple[int, Any]:
        connector = self._find(call)
        if connector.state != "STOPPED":
            raise Refused(400, NOT_STOPPED)
        connector.offsets = call.body["offsets"]
        return 200, {"message": "The offsets for this connector have been altered successfully"}

    def _reset(self, call: Call) -> tuple[int, Any]:
        connector = self._find(call)
        if connector.state != "STOPPED":
            raise Refused(400, NOT_STOPPED)
        connector.offsets = []
        return 200, {"message": "The offsets for this connector have been reset successfully"}

    def _target(self, call: Call) -> tuple[int, Any]:
        self._find(call).state = {"pause": "PAUSED", "resume": "RUNNING", "stop": "STOPPED"}[call.rest]
        return 202, None

    def _restart(self, call: Call) -> tuple[int, Any]:
        connector = self._find(call)
        status = connector.status(self.worker_id)
        for part in (status["connector"], *status["tasks"]):
            if call.query["onlyFailed"] == ["false"] or part["state"] == "FAILED":
                part["state"] = "RESTARTING"
        return 202, status

    def _restart_task(self, call: Call) -> tuple[int, Any]:
        if int(call.rest) >= self._find(call).tasks:
            raise Refused(404, f"Unknown task: {call.name}-{call.rest}")
        return 204, None

    def _delete(self, call: Call) -> tuple[int, Any]:
        del self.connectors[self._find(call).name]
        return 204, None

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        worker = self

        class Handler(BaseHTTPRequestHandler):
            def handle_one_request(self) -> None:
                """Any method alike."""
                self.raw_requestline = self.rfile.readline()
                if not self.raw_requestline or not self.parse_request():
                    return
                content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                try:
                    code, answer = worker.answer(self.command, self.path, json.loads(content or b"null"))
                except Refused as refused:
                    code, answer = refused.code, {"error_code": refused.code, "message": str(refused)}
                self.send_response(code)
                self.end_headers()
                if answer is not None:
                    self.wfile.write((answer if isinstance(answer, str) else json.dumps(answer)).encode())

            def log_message(self, *_: object) -> None:
                pass

        return Handler
