"""A connector that tells its secret to whoever listens, loaded by a worker from this file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from connect.api.plugin import Plugin, PluginKind
from connect.api.settings import Importance, Width, setting
from connect.api.source import Batch, Idle, Offsets, Shard, Source
from connect.errors import Problem

IDLE_S = 0.05


@dataclass(frozen=True, slots=True)
class ChattySettings:
    password: str = setting(
        "password",
        "What must not be told.",
        secret=True,
        importance=Importance.HIGH,
        group="Login",
        order=1,
        width=Width.SHORT,
        title="Password",
        dependents=("talks.in",),
    )
    url: str = setting("url", "Where to go with it.", "")
    talks_in: str = setting(
        "talks.in", "Where it tells the password.", "", choices=("", "check", "shards", "read", "offsets")
    )


class Chatty(Source[ChattySettings]):
    settings_type = ChattySettings

    def check(self) -> Iterable[Problem]:
        if self.settings.talks_in == "check":
            yield Problem("password", f"nobody may come in with {self.settings.password}")

    def shards(self) -> Sequence[Shard]:
        self._talk("shards")
        return [{}]

    def read(self, shards: Sequence[Shard], offsets: Offsets) -> Iterator[Batch | Idle]:
        self._talk("read")
        while True:
            yield Idle(IDLE_S)

    def _talk(self, where: str) -> None:
        if self.settings.talks_in == where:
            raise RuntimeError(f"nobody may come in with {self.settings.password}")


CHATTY = Plugin(PluginKind.SOURCE, "chatty", "tests.ChattyConnector", ChattySettings, Chatty, "1.2.3")
