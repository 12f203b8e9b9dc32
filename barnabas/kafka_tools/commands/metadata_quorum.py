"""`kafka-metadata-quorum`: the state of the controllers, and changes of who they are."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from barnabas.client.admin.session import Session, run
from barnabas.client.client_config import load_properties
from barnabas.kafka_tools.shell.arguments import STORE_TRUE, ArgumentParser, Values
from barnabas.kafka_tools.shell.exits import SUCCESS, ToolError
from barnabas.kernel.java.kafka_exceptions import described, error_of
from barnabas.wire.errors import KafkaError

if TYPE_CHECKING:
    from barnabas.wire.messages.describe_quorum import DescribeQuorumResponse, ReplicaState, ResponsePartitionData

METADATA_TOPIC: Final = "__cluster_metadata"
COLUMNS: Final = (
    "NodeId",
    "DirectoryId",
    "LogEndOffset",
    "Lag",
    "LastFetchTimestamp",
    "LastCaughtUpTimestamp",
    "Status",
)
UNKNOWN_TIME: Final = -1


def main(arguments: Sequence[str]) -> int:
    values = _parser().parse(arguments)
    file = values.text("command_config")
    if file is not None and not os.path.exists(file):
        raise ToolError(f"Properties file {file} does not exists!")
    controllers = values.text("bootstrap_controller")
    session = Session.open(
        values.text("bootstrap_server") or controllers or "", file, controllers=controllers is not None
    )
    try:
        run(_execute(session, values))
    except KafkaError as error:
        raise ToolError(described(error)) from None
    return SUCCESS


async def _execute(session: Session, values: Values) -> None:
    async with session:
        command = values.text("command")
        if command == "describe":
            await _describe(session, values)
        elif command == "add-controller":
            await _add(session, values)
        else:
            await _remove(session, values)


async def _describe(session: Session, values: Values) -> None:
    status, replication = values.is_set("status"), values.is_set("replication")
    if status and replication:
        raise ToolError("Only one of --status or --replication should be specified with describe sub-command")
    if not status and not replication:
        raise ToolError("One of --status or --replication must be specified with describe sub-command")
    if status and values.is_set("human_readable"):
        raise ToolError("The option --human-readable is only supported along with --replication")
    cluster_id = (await session.cluster()).cluster_id
    answer, quorum = await _quorum(session)
    if status:
        _show_status(cluster_id, answer, quorum)
    else:
        _show_replication(quorum, human=values.is_set("human_readable"))


async def _quorum(session: Session) -> tuple[DescribeQuorumResponse, ResponsePartitionData]:
    from barnabas.wire.messages.describe_quorum import (
        DescribeQuorumRequest,
        DescribeQuorumResponse,
        RequestPartitionData,
        RequestTopicData,
    )

    topic = RequestTopicData(topic_name=METADATA_TOPIC, partitions=[RequestPartitionData(partition_index=0)])
    answer = await session.send(
        DescribeQuorumRequest(topics=[topic]), DescribeQuorumResponse, call="describeMetadataQuorum"
    )
    if answer.error_code:
        raise error_of(answer.error_code, answer.error_message)
    quorum = answer.topics[0].partitions[0]
    if quorum.error_code:
        raise error_of(quorum.error_code, quorum.error_message)
    return answer, quorum


def _leader(quorum: ResponsePartitionData) -> ReplicaState:
    found = [voter for voter in quorum.current_voters if voter.replica_id == quorum.leader_id]
    if not found:
        raise ToolError(
            f"Node {quorum.leader_id} leads and is not among the voters; try again when a leader is elected"
        )
    return found[0]


def _show_status(cluster_id: str | None, answer: DescribeQuorumResponse, quorum: ResponsePartitionData) -> None:
    leader = _leader(quorum)
    slowest = min(quorum.current_voters, key=lambda voter: voter.log_end_offset)
    if slowest is leader or slowest.log_end_offset == leader.log_end_offset:
        lag_ms = 0
    elif UNKNOWN_TIME in (leader.last_caught_up_timestamp, slowest.last_caught_up_timestamp):
        lag_ms = UNKNOWN_TIME
    else:
        lag_ms = leader.last_caught_up_timestamp - slowest.last_caught_up_timestamp
    listeners = {
        node.node_id: [f"{one.name}://{one.host}:{one.port}" for one in node.listeners] for node in answer.nodes
    }
    print(f"ClusterId:              {cluster_id}")
    print(f"LeaderId:               {quorum.leader_id}")
    print(f"LeaderEpoch:            {quorum.leader_epoch}")
    print(f"HighWatermark:          {quorum.high_watermark}")
    print(f"MaxFollowerLag:         {leader.log_end_offset - slowest.log_end_offset}")
    print(f"MaxFollowerLagTimeMs:   {lag_ms}")
    print(f"CurrentVoters:          {_replicas(quorum.current_voters, listeners)}")
    print(f"CurrentObservers:       {_replicas(quorum.observers, listeners)}")


def _replicas(replicas: Sequence[ReplicaState], listeners: Mapping[int, list[str]]) -> str:
    from core_broker.log.meta_properties import encode_uuid

    shown = []
    for replica in replicas:
        text = f'{{"id": {replica.replica_id}'
        if any(replica.replica_directory_id):
            text += f', "directoryId": "{encode_uuid(replica.replica_directory_id)}"'
        endpoints = ", ".join(f'"{one}"' for one in listeners.get(replica.replica_id, ()))
        shown.append(text + (f', "endpoints": [{endpoints}]' if endpoints else "") + "}")
    return f"[{', '.join(shown)}]"


def _show_replication(quorum: ResponsePartitionData, *, human: bool) -> None:
    from core_broker.log.meta_properties import encode_uuid

    leader = _leader(quorum)
    followers = [voter for voter in quorum.current_voters if voter is not leader]
    states = (([leader], "Leader"), (followers, "Follower"), (quorum.observers, "Observer"))
    rows = [
        (
            str(replica.replica_id),
            encode_uuid(replica.replica_directory_id),
            str(replica.log_end_offset),
            str(leader.log_end_offset - replica.log_end_offset),
            _time(replica.last_fetch_timestamp, human=human),
            _time(replica.last_caught_up_timestamp, human=human),
            status,
        )
        for replicas, status in states
        for replica in replicas
    ]
    table = [COLUMNS, *rows]
    widths = [max(len(row[column]) for row in table) for column in range(len(COLUMNS))]
    for row in table:
        print("".join(f"{cell:<{width}}\t" for cell, width in zip(row, widths, strict=True)))


def _time(timestamp_ms: int, *, human: bool) -> str:
    if timestamp_ms == UNKNOWN_TIME or not human:
        return str(timestamp_ms)
    return f"{max(time.time_ns() // 1_000_000 - timestamp_ms, 0)} ms ago"


async def _add(session: Session, values: Values) -> None:
    from barnabas.wire.messages.add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse, Listener
    from core_broker.log.meta_properties import decode_uuid

    file = values.text("command_config")
    if file is None:
        raise ToolError(
            "You must supply the configuration file of the controller you are adding when using add-controller."
        )
    properties = load_properties(file)
    node_id = _node_id(properties)
    directory_id = _directory_id(_metadata_folder(properties))
    endpoints = _controller_endpoints(properties)
    if not values.is_set("dry_run"):
        request = AddRaftVoterRequest(
            cluster_id=(await session.cluster()).cluster_id,
            timeout_ms=session.config.request_timeout_ms,
            voter_id=node_id,
            voter_directory_id=decode_uuid(directory_id),
            listeners=[Listener(name=name, host=host, port=port) for name, host, port in endpoints],
        )
        answer = await session.send_to_controller(request, AddRaftVoterResponse)
        if answer.error_code:
            raise error_of(answer.error_code, answer.error_message)
    done = "DRY RUN of adding" if values.is_set("dry_run") else "Added"
    shown = ", ".join(f"{name}://{f'[{host}]' if ':' in host else host}:{port}" for name, host, port in endpoints)
    print(f"{done} controller {node_id} with directory id {directory_id} and endpoints: {shown}")


_NO_CONTROLLER: Final = "Is this a valid controller configuration file?"


def _node_id(properties: Mapping[str, str]) -> int:
    text = properties.get("node.id")
    if text is None:
        raise ToolError(f"node.id not found in configuration file. {_NO_CONTROLLER}")
    if not text.lstrip("-").isdigit():
        raise ToolError(f'For input string: "{text}". node.id must be a number.')
    if int(text) < 0:
        raise ToolError(f"node.id was negative in configuration file. {_NO_CONTROLLER}")
    if "controller" not in properties.get("process.roles", ""):
        raise ToolError(f"process.roles did not contain 'controller' in configuration file. {_NO_CONTROLLER}")
    return int(text)


def _metadata_folder(properties: Mapping[str, str]) -> str:
    for name in ("metadata.log.dir", "log.dirs"):
        if name in properties:
            return properties[name].strip().split(",")[0]
    raise ToolError(f"Neither metadata.log.dir nor log.dirs were found. {_NO_CONTROLLER}")


def _directory_id(folder: str) -> str:
    path = os.path.join(folder, "meta.properties")
    if not os.path.exists(path):
        raise ToolError(f"Unable to read meta.properties from {folder}")
    found = load_properties(path).get("directory.id")
    if found is None:
        raise ToolError(f"No directory id found in {folder}")
    return found


def _controller_endpoints(properties: Mapping[str, str]) -> list[tuple[str, str, int]]:
    listeners: dict[str, tuple[str, int]] = {}
    for setting in ("listeners", "advertised.listeners"):
        for entry in properties.get(setting, "").split(","):
            name, separator, address = entry.strip().partition("://")
            host, _, port = address.rpartition(":")
            if separator and port.isdigit():
                listeners[name.upper()] = (host.strip("[]") or "localhost", int(port))
    if "controller.listener.names" not in properties:
        raise ToolError(f"controller.listener.names was not found. {_NO_CONTROLLER}")
    found = []
    for name in (word.strip().upper() for word in properties["controller.listener.names"].split(",")):
        if name not in listeners:
            raise ToolError(f"Cannot find information about controller listener name: {name}")
        found.append((name, *listeners[name]))
    return found


async def _remove(session: Session, values: Values) -> None:
    from barnabas.wire.messages.remove_raft_voter import RemoveRaftVoterRequest, RemoveRaftVoterResponse
    from core_broker.log.meta_properties import decode_uuid

    node_id = values.integer("controller_id") or 0
    if node_id < 0:
        raise ToolError(f"Invalid negative --controller-id: {node_id}")
    directory_id = values.text("controller_directory_id") or ""
    try:
        raw = decode_uuid(directory_id)
    except ValueError as error:
        raise ToolError(f"Failed to parse --controller-directory-id: {error}") from None
    if not values.is_set("dry_run"):
        request = RemoveRaftVoterRequest(
            cluster_id=(await session.cluster()).cluster_id, voter_id=node_id, voter_directory_id=raw
        )
        answer = await session.send_to_controller(request, RemoveRaftVoterResponse)
        if answer.error_code:
            raise error_of(answer.error_code, answer.error_message)
    done = "DRY RUN of removing " if values.is_set("dry_run") else "Removed "
    print(f"{done} KRaft controller {node_id} with directory id {directory_id}")


def _parser() -> ArgumentParser:
    parser = ArgumentParser("kafka-metadata-quorum", "The state of the metadata quorum.")
    group = parser.group(exclusive=True, required=True)
    parser.add("--bootstrap-server", about="Brokers to begin with, as host:port.", group=group)
    parser.add("--bootstrap-controller", about="Controllers to begin with, as host:port.", group=group)
    parser.add(
        "--command-config",
        about="File with properties of the client; for add-controller the configuration of the controller.",
    )
    describe = parser.command("describe", "Print the state of the quorum.")
    status, replication = describe.group("Status"), describe.group("Replication")
    describe.add("--status", action=STORE_TRUE, about="The quorum in short.", group=status)
    describe.add("--replication", action=STORE_TRUE, about="Every replica of the metadata.", group=replication)
    describe.add("--human-readable", action=STORE_TRUE, about="Times as how long ago.", group=replication)
    add = parser.command("add-controller", "Add a controller to the quorum.")
    add.add("--dry-run", action=STORE_TRUE, about="Only say what would be done.")
    remove = parser.command("remove-controller", "Take a controller out of the quorum.")
    remove.add("--controller-id", "-i", kind="Integer", required=True, about="The controller to take out.")
    remove.add("--controller-directory-id", "-d", required=True, about="The id of its metadata directory.")
    remove.add("--dry-run", action=STORE_TRUE, about="Only say what would be done.")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
