"""Broker settings of security as a whole: who a client is, what it may do, and delegation tokens."""

from __future__ import annotations

from functools import partial

from barnabas.kernel.settings import Kind
from core_broker.configs.setting import BrokerSetting, Effect, UpdateMode

DEFAULT_PRINCIPAL_BUILDER = "org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder"

_NO_TOKENS = "delegation tokens are not served"
_JAVA = "this broker runs no Java classes, so that the class would never be asked"

_refused = partial(BrokerSetting, effect=Effect.REFUSED)
_inert = partial(BrokerSetting, effect=Effect.INERT)

SETTINGS = (
    _refused(
        "authorizer.class.name",
        Kind.STRING,
        "",
        "Java class that decides about access.",
        why="access lists are not served yet: everybody may do everything, so that a file that asks for them must not start a broker",
    ),
    _inert(
        "super.users",
        Kind.STRING,
        None,
        "Principals that may do everything.",
        why="everybody may, without access lists",
        internal=True,
    ),
    _inert(
        "allow.everyone.if.no.acl.found",
        Kind.BOOLEAN,
        False,
        "Whether a resource without an access list is open.",
        why="everything is open without access lists",
        internal=True,
    ),
    _refused(
        "principal.builder.class",
        Kind.CLASS,
        DEFAULT_PRINCIPAL_BUILDER,
        "Java class that names the client of a connection.",
        mode=UpdateMode.PER_BROKER,
        why=_JAVA,
    ),
    _refused("security.providers", Kind.STRING, None, "Java classes that provide algorithms.", why=_JAVA),
    _inert(
        "connection.failed.authentication.delay.ms",
        Kind.INT,
        100,
        "Time that a failed authentication waits for its answer.",
        "ms",
        minimum=0,
        why="no listener authenticates yet",
    ),
    _inert(
        "connections.max.reauth.ms",
        Kind.LONG,
        0,
        "Time after which a client must authenticate again.",
        "ms",
        why="no listener authenticates yet",
    ),
    _refused(
        "delegation.token.secret.key", Kind.PASSWORD, None, "Key that signs tokens; switches them on.", why=_NO_TOKENS
    ),
    _inert(
        "delegation.token.max.lifetime.ms",
        Kind.LONG,
        604800000,
        "Longest life of a token.",
        "ms",
        minimum=1,
        why=_NO_TOKENS,
    ),
    _inert(
        "delegation.token.expiry.time.ms",
        Kind.LONG,
        86400000,
        "Time until a token must be renewed.",
        "ms",
        minimum=1,
        why=_NO_TOKENS,
    ),
    _inert(
        "delegation.token.expiry.check.interval.ms",
        Kind.LONG,
        3600000,
        "Time between two looks for old tokens.",
        "ms",
        minimum=1,
        why=_NO_TOKENS,
    ),
)
