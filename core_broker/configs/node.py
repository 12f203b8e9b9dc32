"""Broker settings of the node itself: its name in the cluster, its roles, its topics, and what Barnabas promises about data."""

from __future__ import annotations

from functools import partial

from barnabas.kernel.settings import Kind
from core_broker.configs.checks import distinct, roles_of_one_node
from core_broker.configs.setting import BrokerSetting, Effect, UpdateMode

DURABILITIES = ("durable", "relaxed")
VALIDATIONS = ("header", "strict")
DEFAULT_NODE_ID = 1

_JAVA = "this broker runs no Java classes, so that the class would never be asked"

_inert = partial(BrokerSetting, effect=Effect.INERT)
_refused = partial(BrokerSetting, effect=Effect.REFUSED)

IDENTITY = (
    BrokerSetting("node.id", Kind.INT, DEFAULT_NODE_ID, "Number of this node in the cluster.", minimum=0),
    BrokerSetting(
        "broker.id", Kind.INT, -1, "The node's number, in the words of older files; must agree with node.id."
    ),
    BrokerSetting("broker.rack", Kind.STRING, None, "Place of this node, which clients learn."),
    BrokerSetting(
        "process.roles",
        Kind.LIST,
        "broker,controller",
        "What this process is; always broker and controller in one.",
        choices=("broker", "controller"),
        check=roles_of_one_node,
    ),
)

TOPICS = (
    BrokerSetting("auto.create.topics.enable", Kind.BOOLEAN, True, "Create a topic when a client first asks for it."),
    BrokerSetting("delete.topic.enable", Kind.BOOLEAN, True, "Whether topics may be deleted."),
    BrokerSetting("num.partitions", Kind.INT, 1, "Partitions of a topic whose creator names no number.", minimum=1),
    _refused(
        "create.topic.policy.class.name",
        Kind.CLASS,
        None,
        "Java class that may refuse new topics.",
        why=_JAVA,
    ),
    _refused(
        "alter.config.policy.class.name", Kind.CLASS, None, "Java class that may refuse new configurations.", why=_JAVA
    ),
)

PROMISES = (
    BrokerSetting(
        "durability",
        Kind.STRING,
        "durable",
        "When acks=all is answered: durable: after the data is on the disk; relaxed: when the operating system has it, as in Kafka.",
        choices=DURABILITIES,
        mode=UpdateMode.CLUSTER_WIDE,
    ),
    BrokerSetting(
        "validation",
        Kind.STRING,
        "header",
        "What is checked of a batch: header: its header and checksum; strict: each record too.",
        choices=VALIDATIONS,
        mode=UpdateMode.CLUSTER_WIDE,
    ),
)

PRODUCERS = (
    BrokerSetting(
        "producer.id.expiration.ms",
        Kind.INT,
        86400000,
        "Time after its last write at which an idempotent producer is forgotten.",
        "ms",
        minimum=1,
        mode=UpdateMode.CLUSTER_WIDE,
    ),
    BrokerSetting(
        "producer.id.expiration.check.interval.ms",
        Kind.INT,
        600000,
        "Time between two looks for such producers.",
        "ms",
        minimum=1,
        internal=True,
    ),
)

PROCESS = (
    _refused(
        "config.providers",
        Kind.LIST,
        "",
        "Java classes that look up values written as ${provider:path:key}.",
        mode=UpdateMode.CLUSTER_WIDE,
        check=distinct,
        why=f"{_JAVA}; give secrets in environment variables (KAFKA_... or BARNABAS_...)",
    ),
    _inert(
        "controlled.shutdown.enable",
        Kind.BOOLEAN,
        True,
        "Hand partitions to other brokers before stopping.",
        why="there is no other broker",
    ),
    _inert(
        "server.max.startup.time.ms",
        Kind.LONG,
        (1 << 63) - 1,
        "Time to start before giving up.",
        "ms",
        minimum=0,
        internal=True,
        why="start-up takes milliseconds",
    ),
    _refused(
        "unstable.api.versions.enable",
        Kind.BOOLEAN,
        False,
        "Serve versions of requests that are not final.",
        internal=True,
        why="no such version is served",
    ),
    _refused(
        "unstable.feature.versions.enable",
        Kind.BOOLEAN,
        False,
        "Allow feature levels that are not final.",
        internal=True,
        why="no such level exists here",
    ),
)

SETTINGS = (*IDENTITY, *TOPICS, *PROMISES, *PRODUCERS, *PROCESS)
