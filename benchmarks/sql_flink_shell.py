"""Runs in Flink's own environment, of which it needs nothing but pyflink: takes statements as lines of JSON and hands them to a cluster.

    {"sql": "CREATE TABLE …"}     is answered with {}
    {"sql": "INSERT INTO …"}      with {"job": the id of the job that runs from then on}
    {"cancel": "<id of a job>"}   with {} when it has ended

A statement that fails is answered with {"error": its message}.
"""

from __future__ import annotations

import json
import sys
import time
import urllib.request

from pyflink.common import Configuration  # type: ignore[import-not-found]
from pyflink.table import EnvironmentSettings, TableEnvironment  # type: ignore[import-not-found]

CANCEL_LIMIT_SECONDS = 60
PROBE_SECONDS = 0.05
ENDED = ("CANCELED", "FINISHED", "FAILED")


class Shell:
    def __init__(self, address: str, settings: dict[str, str]) -> None:
        self._address = address
        configuration = Configuration()
        for name, value in settings.items():
            configuration.set_string(name, value)
        chosen = EnvironmentSettings.new_instance().in_streaming_mode().with_configuration(configuration).build()
        self._environment = TableEnvironment.create(chosen)

    def answer(self, request: dict[str, str]) -> dict[str, str]:
        if "cancel" in request:
            self._cancel(request["cancel"])
            return {}
        for name, value in json.loads(request.get("settings", "{}")).items():
            self._environment.get_config().set(name, value)
        client = self._environment.execute_sql(request["sql"]).get_job_client()
        return {} if client is None else {"job": str(client.get_job_id())}

    def _cancel(self, job: str) -> None:
        """Through the cluster's own API: a client of pyflink waits for each of its calls in Java."""
        self._ask(f"/jobs/{job}?mode=cancel", "PATCH")
        deadline = time.monotonic() + CANCEL_LIMIT_SECONDS
        while self._ask(f"/jobs/{job}")["state"] not in ENDED:
            if time.monotonic() > deadline:
                raise TimeoutError(f"job {job} has not ended within {CANCEL_LIMIT_SECONDS} s")
            time.sleep(PROBE_SECONDS)

    def _ask(self, path: str, method: str = "GET") -> dict[str, str]:
        request = urllib.request.Request(f"{self._address}{path}", method=method)
        with urllib.request.urlopen(request, timeout=CANCEL_LIMIT_SECONDS) as answer:
            found: dict[str, str] = json.load(answer)
        return found


def main(address: str, settings: dict[str, str]) -> None:
    shell = Shell(address, settings)
    _tell({})
    for line in sys.stdin:
        try:
            _tell(shell.answer(json.loads(line)))
        except Exception as error:  # noqa: BLE001 - what is wrong with a statement is for the other side to tell
            _tell({"error": str(error)})


def _tell(answer: dict[str, str]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1], json.loads(sys.argv[2]))
