"""The v3 paths of a service, below its one cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.registry import Answer, ask

JSON = {"Content-Type": "application/json"}


@dataclass(frozen=True, slots=True)
class V3Service:
    url: str
    cluster_id: str
    bootstrap: str

    @classmethod
    def at(cls, url: str, bootstrap: str) -> V3Service:
        (cluster,) = ask(url, "GET", "/v3/clusters").body["data"]
        return cls(url, cluster["cluster_id"], bootstrap)

    @property
    def base(self) -> str:
        """Where links begin."""
        return f"{self.url}/v3/clusters/{self.cluster_id}"

    @property
    def name(self) -> str:
        """How names of resources begin."""
        return f"crn:///kafka={self.cluster_id}"

    def ask(self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None) -> Answer:
        return ask(self.url, method, f"/v3/clusters/{self.cluster_id}{path}", body, headers or JSON)

    def get(self, path: str) -> Any:
        answer = self.ask("GET", path)
        assert answer.status == 200, answer.raw
        return answer.body

    def create(self, topic: str, partitions: int = 1, **configs: str) -> None:
        """A topic that can be described when this returns. Underscores in the names of configs stand for dots."""
        named = [{"name": name.replace("_", "."), "value": value} for name, value in configs.items()]
        wanted = {"topic_name": topic, "partitions_count": partitions, "configs": named}
        answer = self.ask("POST", "/topics", wanted)
        assert answer.status == 201, answer.raw

    def related(self, path: str) -> dict[str, str]:
        return {"related": f"{self.base}{path}"}
