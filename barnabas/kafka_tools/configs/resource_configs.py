"""What `kafka-configs --describe` prints of topics, brokers, loggers, groups and client metrics."""

from __future__ import annotations

from barnabas.client.admin import config_resources
from barnabas.client.admin.described_configs import SOURCES
from barnabas.client.admin.session import Session


async def show(session: Session, kind: str, name: str | None, *, everything: bool) -> None:
    if name is not None and not everything and not await config_resources.exists(session, kind, name):
        print(f"The {kind[:-1]} '{name}' doesn't exist and doesn't have dynamic config.")
        return
    for one in [name] if name is not None else await config_resources.names(session, kind):
        if one:
            print(f"{'All' if everything else 'Dynamic'} configs for {kind[:-1]} {one} are:")
        else:
            print(f"Default configs for {kind} in the cluster are:")
        for entry in await config_resources.entries(session, kind, one, everything=everything):
            synonyms = ", ".join(
                f"{SOURCES.get(known.source, 'UNKNOWN')}:{known.name}={_value(known.value)}" for known in entry.synonyms
            )
            sensitive = "true" if entry.is_sensitive else "false"
            print(f"  {entry.name}={_value(entry.value)} sensitive={sensitive} synonyms={{{synonyms}}}")


def _value(value: str | None) -> str:
    return "null" if value is None else value
