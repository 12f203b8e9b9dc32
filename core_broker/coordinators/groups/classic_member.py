"""A member of a classic group."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from barnabas.wire.messages.describe_groups import DescribedGroupMember
from barnabas.wire.messages.join_group import JoinGroupRequestProtocol, JoinGroupResponse, JoinGroupResponseMember
from barnabas.wire.messages.sync_group import SyncGroupResponse
from barnabas.wire.records.group_offsets import MemberMetadata
from core_broker.context import ConnectionMembers
from core_broker.coordinators.groups.session import Session

JoinAnswer = Callable[[JoinGroupResponse], None]
SyncAnswer = Callable[[SyncGroupResponse], None]

Protocols = dict[str, bytes]
"""What a member offers, the one that it likes best first: names, and what it tells of itself under each."""

NO_ASSIGNMENT = b""


class ClassicMember:
    """`joining` and `syncing` are set while a request of the member waits for its answer."""

    __slots__ = (
        "assignment",
        "client_host",
        "client_id",
        "instance_id",
        "is_new",
        "joining",
        "maker",
        "member_id",
        "protocols",
        "rebalance_timeout_ms",
        "session",
        "session_timeout_ms",
        "syncing",
    )

    def __init__(
        self,
        member_id: str,
        instance_id: str | None,
        client_id: str,
        client_host: str,
        rebalance_timeout_ms: int,
        session_timeout_ms: int,
        protocols: Protocols,
        assignment: bytes = NO_ASSIGNMENT,
    ) -> None:
        self.member_id = member_id
        self.instance_id = instance_id
        self.client_id = client_id
        self.client_host = client_host
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.session_timeout_ms = session_timeout_ms
        self.protocols = protocols
        self.assignment = assignment
        self.joining: JoinAnswer | None = None
        self.syncing: SyncAnswer | None = None
        self.is_new = False
        self.session: Session | None = None
        self.maker: ConnectionMembers | None = None

    @classmethod
    def of_record(cls, protocol: str | None, record: MemberMetadata) -> ClassicMember:
        timeout_ms = record.session_timeout if record.rebalance_timeout == -1 else record.rebalance_timeout
        return cls(
            record.member_id,
            record.group_instance_id,
            record.client_id,
            record.client_host,
            timeout_ms,
            record.session_timeout,
            {protocol or "": record.subscription},
            record.assignment,
        )

    def record(self, protocol: str, assignment: bytes) -> MemberMetadata:
        """How the log tells of it, with an assignment that may be about to become its own."""
        return MemberMetadata(
            member_id=self.member_id,
            group_instance_id=self.instance_id,
            client_id=self.client_id,
            client_host=self.client_host,
            rebalance_timeout=self.rebalance_timeout_ms,
            session_timeout=self.session_timeout_ms,
            subscription=self.protocols[protocol],
            assignment=assignment,
        )

    def matches(self, protocols: Protocols) -> bool:
        """Whether it offers exactly this; what it likes best counts too."""
        return self.protocols == protocols and list(self.protocols) == list(protocols)

    @property
    def metadata_bytes(self) -> int:
        return size_bytes(self.protocols)

    @property
    def may_be_silent(self) -> bool:
        """While a request waits for the others nothing else is expected. A new member has no id yet, and might be gone."""
        return not self.is_new and (self.joining is not None or self.syncing is not None)

    def seen_by_leader(self, protocol: str | None) -> JoinGroupResponseMember:
        return JoinGroupResponseMember(
            member_id=self.member_id,
            group_instance_id=self.instance_id,
            metadata=NO_ASSIGNMENT if protocol is None else self.protocols[protocol],
        )

    def described(self, protocol: str | None) -> DescribedGroupMember:
        return DescribedGroupMember(
            member_id=self.member_id,
            group_instance_id=self.instance_id,
            client_id=self.client_id,
            client_host=self.client_host,
            member_metadata=b"" if protocol is None else self.protocols[protocol],
            member_assignment=self.assignment,
        )


def successor(old: ClassicMember, member_id: str) -> ClassicMember:
    """A static member that is back under a new id: it has what its old self had."""
    return ClassicMember(
        member_id,
        old.instance_id,
        old.client_id,
        old.client_host,
        old.rebalance_timeout_ms,
        old.session_timeout_ms,
        old.protocols,
        old.assignment,
    )


def protocols_of(offered: Iterable[JoinGroupRequestProtocol]) -> Protocols:
    return {protocol.name: protocol.metadata for protocol in offered}


def size_bytes(protocols: Protocols) -> int:
    return sum(len(name) + len(metadata) for name, metadata in protocols.items())
