"""What HTTP serves: the stage of a worker that starts, and then its herder."""

from __future__ import annotations

from collections.abc import Mapping

from connect.cluster.failures import WorkerError
from connect.cluster.routing import Routing
from connect.herder.herder import Herder
from connect.herder.views import Health, Vitality
from connect.tasks.spec import TaskId


class Startup:
    """HTTP is served before the worker has read its topics. Until `finish`, `herder` and `routing` raise a WorkerError with the stage."""

    def __init__(self) -> None:
        self.stage = "reading its settings"
        self._worker: tuple[Herder, Routing] | None = None

    def finish(self, herder: Herder, routing: Routing) -> None:
        self._worker = herder, routing

    @property
    def herder(self) -> Herder:
        return self._started()[0]

    @property
    def routing(self) -> Routing:
        return self._started()[1]

    async def health(self) -> Health:
        if self._worker is None:
            return Health(Vitality.STARTING, f"Worker is still starting up. It is {self.stage}.")
        return await self.herder.health()

    def task_metrics(self) -> Mapping[TaskId, Mapping[str, float]]:
        return {} if self._worker is None else self.herder.task_metrics()

    def _started(self) -> tuple[Herder, Routing]:
        if self._worker is None:
            raise WorkerError(f"The worker is still starting up: it is {self.stage}. Try again in a moment.")
        return self._worker
