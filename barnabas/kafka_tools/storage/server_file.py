"""What `kafka-storage` must know of a server's configuration file: who the node is, and where its directories are."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from barnabas.client.client_config import load_properties
from barnabas.kafka_tools.shell.exits import ToolError

# Kafka's own default.
DEFAULT_FOLDER: Final = "/tmp/kafka-logs"  # noqa: S108
BOTH_ROLES: Final = ("broker", "controller")
LOCAL_HOST: Final = "localhost"


@dataclass(frozen=True, slots=True)
class ServerFile:
    """`folders` are sorted; the metadata lie in one of them."""

    node_id: int
    roles: tuple[str, ...]
    folders: tuple[str, ...]
    metadata_folder: str
    voters: str
    controller_listener: str
    controller_address: tuple[str, int] | None
    unstable_features: bool
    # Our own data directory, of which the log directory is a part.
    data_folder: str | None

    @property
    def is_controller(self) -> bool:
        return "controller" in self.roles


def read(path: str) -> ServerFile:
    """ToolError for a file that is no server's. A file with our own `data.dir` needs neither roles nor listeners."""
    given = load_properties(path, "--config")
    own = given.get("data.dir")
    roles = _listed(given.get("process.roles", ",".join(BOTH_ROLES) if own else ""))
    if not roles:
        raise ToolError(
            'Missing required configuration "process.roles" which has no default value. '
            "A node that is all of the cluster has process.roles=broker,controller."
        )
    node = given.get("node.id", "1" if own else "")
    if not node.lstrip("-").isdigit():
        raise ToolError(
            'Missing required configuration "node.id" which has no default value.'
            if not node
            else f"Invalid value {node} for configuration node.id: Not a number of type INT"
        )
    if int(node) < 0:
        raise ToolError("You must specify a valid non-negative node ID.")
    if not own and not given.get("controller.quorum.voters") and not given.get("controller.quorum.bootstrap.servers"):
        raise ToolError(
            "If using process.roles, either controller.quorum.bootstrap.servers must contain the set of bootstrap "
            "controllers or controller.quorum.voters must contain a parseable set of controllers."
        )
    folders = _listed(given.get("log.dirs") or given.get("log.dir") or (os.path.join(own, "broker") if own else ""))
    folders = folders or (DEFAULT_FOLDER,)
    metadata_folder = given.get("metadata.log.dir") or folders[0]
    listener = (*_listed(given.get("controller.listener.names", "")), "CONTROLLER")[0]
    return ServerFile(
        node_id=int(node),
        roles=roles,
        folders=tuple(sorted({*folders, metadata_folder})),
        metadata_folder=metadata_folder,
        # Of our own files each is a cluster of one node, which needs no voters.
        voters=given.get("controller.quorum.voters", f"{node}@{LOCAL_HOST}:0" if own else ""),
        controller_listener=listener,
        controller_address=_address(given, listener),
        unstable_features=given.get("unstable.feature.versions.enable", "").strip().lower() == "true",
        data_folder=own,
    )


def _listed(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _address(given: Mapping[str, str], listener: str) -> tuple[str, int] | None:
    """Where the controller can be reached, as the file tells it."""
    for setting in ("advertised.listeners", "listeners"):
        for entry in _listed(given.get(setting, "")):
            name, _, address = entry.partition("://")
            host, _, port = address.rpartition(":")
            if name.upper() == listener.upper() and port.isdigit():
                return host.strip("[]") or LOCAL_HOST, int(port)
    return None
