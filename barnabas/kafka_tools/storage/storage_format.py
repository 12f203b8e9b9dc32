"""`kafka-storage format`: directories in which a node can start, in Kafka's layout."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from barnabas.kafka_tools.shell.exits import ToolError
from barnabas.kafka_tools.storage import feature_levels
from barnabas.kafka_tools.storage.feature_levels import METADATA_VERSION
from barnabas.kafka_tools.storage.server_file import ServerFile
from barnabas.kernel.data_directory import DataDirectory, DataDirectoryError
from barnabas.kernel.java.hash_map import hash_map_order
from barnabas.wire.records.cluster_metadata import FeatureLevelRecord, UserScramCredentialRecord
from barnabas.wire.records.control import KRaftVersionFeature, Voter, VoterEndpoint, VotersRecord
from barnabas.wire.struct import Message
from core_broker.log.disk import Disk
from core_broker.log.meta_properties import FILE_NAME as META_PROPERTIES
from core_broker.log.meta_properties import MetaProperties, decode_uuid, encode_uuid
from core_broker.metadata import bootstrap
from core_broker.metadata.store import DIRECTORY_NAME

KRAFT_VERSION: Final = "kraft.version"
FIRST_SNAPSHOT: Final = "00000000000000000000-0000000000.checkpoint"
UUID_BYTES: Final = 16

_FLAGS: Final = "--standalone, --initial-controllers, or --no-initial-controllers"
_VOTER: Final = re.compile(r"(?P<id>\d+)@(?P<host>\[[^\]]+\]|[^:@]+):(?P<port>\d+):(?P<directory>[^:]+)")


@dataclass(frozen=True, slots=True)
class Order:
    """What the command line asks for."""

    cluster_id: str
    release: str | None = None
    features: Sequence[str] = ()
    scram: Sequence[UserScramCredentialRecord] = ()
    standalone: bool = False
    initial_controllers: str | None = None
    no_initial_controllers: bool = False
    ignore_formatted: bool = False
    # For directory ids, and for the time of the records.
    disk: Disk = field(default_factory=Disk)


def random_uuid() -> str:
    """A version 4 UUID in Kafka's text; none begins with a hyphen, which a command line would take for an option."""
    while True:
        raw = bytearray(os.urandom(UUID_BYTES))
        raw[6] = raw[6] & 0x0F | 0x40
        raw[8] = raw[8] & 0x3F | 0x80
        text = encode_uuid(bytes(raw))
        if not text.startswith("-"):
            return text


def run(server: ServerFile, order: Order) -> None:
    voters = _voters(server, order)
    levels = _levels(order, server, dynamic=bool(voters) or order.no_initial_controllers)
    records = _records(levels, order.scram)
    formatted = _formatted(server, order)
    if formatted and not order.ignore_formatted:
        raise ToolError(
            f"Log directory {formatted[0]} is already formatted. "
            "Use --ignore-formatted to ignore this directory and format the others."
        )
    fresh = [folder for folder in server.folders if folder not in formatted]
    if not fresh:
        print("All of the log directories are already formatted.")
        return
    if server.data_folder is not None:
        try:
            DataDirectory.open(Path(server.data_folder))
        except DataDirectoryError as error:
            raise ToolError(str(error)) from None
    print(f"Bootstrap metadata: {_shown(records, levels[METADATA_VERSION])}")
    release = feature_levels.release_of(levels[METADATA_VERSION])
    for folder in hash_map_order(fresh):
        kind = _kind(folder, server, voters)
        print(f"Formatting {kind} {folder} with {METADATA_VERSION} {release}.")
        try:
            _write(Path(folder), server, order, records, voters)
        except OSError as error:
            raise ToolError(f"Error while writing meta.properties file {folder}: {error}") from None


def _voters(server: ServerFile, order: Order) -> list[Voter]:
    """The voters of a dynamic quorum; none for a static one."""
    asked = order.standalone or order.initial_controllers is not None
    if asked and server.voters:
        raise ToolError(
            "You cannot specify controller.quorum.voters and format the node with --initial-controllers or "
            "--standalone. If you want to use dynamic quorum, please remove controller.quorum.voters and specify "
            "controller.quorum.bootstrap.servers instead."
        )
    if order.standalone:
        if not server.is_controller:
            raise ToolError("You can only use --standalone on a controller.")
        if server.controller_address is None:
            raise ToolError("No controller listeners found.")
        host, port = server.controller_address
        return [_voter(server.node_id, host, port, random_uuid(), server.controller_listener)]
    if order.initial_controllers is not None:
        return [_parsed(text, server.controller_listener) for text in order.initial_controllers.split(",")]
    if server.is_controller and not server.voters and not order.no_initial_controllers:
        raise ToolError(
            "Because controller.quorum.voters is not set on this controller, you must specify one of the following: "
            f"{_FLAGS}."
        )
    return []


def _voter(node_id: int, host: str, port: int, directory_id: str, listener: str) -> Voter:
    return Voter(
        voter_id=node_id,
        voter_directory_id=decode_uuid(directory_id),
        endpoints=[VoterEndpoint(name=listener, host=host, port=port)],
        kraft_version_feature=KRaftVersionFeature(min_supported_version=0, max_supported_version=1),
    )


def _parsed(text: str, listener: str) -> Voter:
    found = _VOTER.fullmatch(text.strip())
    if found is None:
        missing = "No @ found in dynamic voter string." if "@" not in text else f"{text!r} is no dynamic voter."
        raise ToolError(f"{missing} Write id@hostname:port:directory, several with commas.")
    try:
        return _voter(int(found["id"]), found["host"].strip("[]"), int(found["port"]), found["directory"], listener)
    except ValueError as error:
        raise ToolError(f"{text!r}: {error}") from None


def _levels(order: Order, server: ServerFile, *, dynamic: bool) -> dict[str, int]:
    """The level of each feature that the cluster begins with."""
    asked = dict(feature_levels.parse_level(text) for text in order.features)
    metadata_level = _metadata_level(order, asked, server)
    unknown = [name for name in asked if name != METADATA_VERSION and name not in feature_levels.DEFAULTS]
    if unknown:
        known = ", ".join(sorted(feature_levels.DEFAULTS))
        raise ToolError(f"Unsupported feature: {unknown[0]}. Supported features are: {known}")
    levels = feature_levels.defaults_of(metadata_level) | {KRAFT_VERSION: 1 if dynamic else 0} | asked
    levels[METADATA_VERSION] = metadata_level
    if asked.get(KRAFT_VERSION) == 0 and dynamic:
        raise ToolError(
            f"Cannot set kraft.version to 0 if controller.quorum.voters is empty and one of the flags {_FLAGS} is used. "
            "For dynamic controllers support, try removing the --feature flag for kraft.version."
        )
    if asked.get(KRAFT_VERSION, 0) > 0 and not dynamic:
        raise ToolError(
            f"Cannot set kraft.version to {asked[KRAFT_VERSION]} unless controller.quorum.voters is empty and one of "
            f"the flags {_FLAGS} is used. For dynamic controllers support, try using one of {_FLAGS} and removing "
            "controller.quorum.voters."
        )
    for name, level in levels.items():
        if name != METADATA_VERSION and not 0 <= level <= feature_levels.DEFAULTS[name][1]:
            raise ToolError(f"No feature:{name} with feature level {level}")
        for other, needed in feature_levels.DEPENDENCIES.get((name, level), {}).items():
            if levels[other] < needed:
                raise ToolError(f"{name} could not be set to {level} because it depends on {other} level {needed}")
    return levels


def _metadata_level(order: Order, asked: Mapping[str, int], server: ServerFile) -> int:
    newest = len(feature_levels.RELEASES) if server.unstable_features else len(feature_levels.RELEASES) - 1
    if METADATA_VERSION in asked:
        if order.release is not None:
            raise ToolError("Use --release-version instead of --feature metadata.version=X to avoid ambiguity.")
        release = feature_levels.release_of(asked[METADATA_VERSION])
        if release is None:
            raise ToolError(f"No MetadataVersion with feature level {asked[METADATA_VERSION]}.")
    else:
        release = order.release or feature_levels.LATEST
    return feature_levels.level_of(release, feature_levels.RELEASES[:newest])


def _records(levels: Mapping[str, int], scram: Sequence[UserScramCredentialRecord]) -> list[Message]:
    others = sorted(name for name in levels if name not in (METADATA_VERSION, KRAFT_VERSION) and levels[name] > 0)
    return [
        *(FeatureLevelRecord(name=name, feature_level=levels[name]) for name in (METADATA_VERSION, *others)),
        *scram,
    ]


def _formatted(server: ServerFile, order: Order) -> list[str]:
    """The directories that are formatted already; ToolError if one belongs to another node or cluster."""
    found = []
    for folder in server.folders:
        path = Path(folder) / META_PROPERTIES
        if not path.exists():
            continue
        try:
            meta = MetaProperties.parse(path.read_bytes())
        except (OSError, ValueError) as error:
            raise ToolError(f"Error loading {path}: {error}") from None
        if meta.cluster_id != order.cluster_id:
            raise ToolError(f"Invalid cluster.id in: {path}. Expected {order.cluster_id}, but read {meta.cluster_id}")
        if meta.node_id != server.node_id:
            raise ToolError(f"Stored node id {meta.node_id} doesn't match previous node id {server.node_id} in {path}")
        found.append(folder)
    return found


def _kind(folder: str, server: ServerFile, voters: Sequence[Voter]) -> str:
    if folder != server.metadata_folder:
        return "data directory"
    if not voters:
        return "metadata directory"
    own = any(voter.voter_id == server.node_id for voter in voters)
    return "dynamic metadata voter directory" if own else "dynamic metadata directory"


def _write(folder: Path, server: ServerFile, order: Order, records: Sequence[Message], voters: Sequence[Voter]) -> None:
    """`meta.properties` comes last: with it the directory counts as formatted."""
    disk = order.disk
    now_ms = time.time_ns() // 1_000_000
    folder.mkdir(parents=True, exist_ok=True)
    disk.replace_file(folder / bootstrap.FILE_NAME, bootstrap.encode_records(records, now_ms))
    directory_id = random_uuid()
    if voters and str(folder) == server.metadata_folder:
        own = [voter for voter in voters if voter.voter_id == server.node_id]
        directory_id = encode_uuid(own[0].voter_directory_id) if own else directory_id
        (folder / DIRECTORY_NAME).mkdir(exist_ok=True)
        snapshot = bootstrap.encode_voters(VotersRecord(voters=list(voters)), now_ms)
        disk.replace_file(folder / DIRECTORY_NAME / FIRST_SNAPSHOT, snapshot)
    meta = MetaProperties(order.cluster_id, server.node_id, directory_id)
    disk.replace_file(folder / META_PROPERTIES, meta.format())


def _shown(records: Sequence[Message], metadata_level: int) -> str:
    parts = []
    for record in records:
        if isinstance(record, FeatureLevelRecord):
            text = f"FeatureLevelRecord(name='{record.name}', featureLevel={record.feature_level})"
        else:
            # Kafka prints the keys, too; whoever has them can try passwords.
            assert isinstance(record, UserScramCredentialRecord)
            text = (
                f"UserScramCredentialRecord(name='{record.name}', mechanism={record.mechanism}, salt=[hidden], "
                f"storedKey=[hidden], serverKey=[hidden], iterations={record.iterations})"
            )
        parts.append(f"ApiMessageAndVersion({text} at version 0)")
    listed = ", ".join(parts)
    return f"BootstrapMetadata(records=[{listed}], metadataVersionLevel={metadata_level}, source=format command)"
