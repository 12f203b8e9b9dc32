"""Broker settings of SASL listeners: mechanisms, logins, Kerberos and OAuth."""

from __future__ import annotations

from functools import partial

from barnabas.kernel.settings import Kind
from core_broker.configs.checks import distinct
from core_broker.configs.setting import BrokerSetting, Effect, UpdateMode

_inert = partial(BrokerSetting, effect=Effect.INERT, why="no SASL listener can be opened yet")
_dynamic = partial(_inert, mode=UpdateMode.PER_BROKER)

MECHANISMS = (
    _dynamic("sasl.enabled.mechanisms", Kind.LIST, "GSSAPI", "Mechanisms that clients may use.", check=distinct),
    _dynamic("sasl.jaas.config", Kind.PASSWORD, None, "Users or login of a mechanism, in the form of JAAS."),
    _dynamic("sasl.mechanism.inter.broker.protocol", Kind.STRING, "GSSAPI", "Mechanism between brokers."),
    _inert("sasl.mechanism.controller.protocol", Kind.STRING, "GSSAPI", "Mechanism towards controllers."),
    _inert("sasl.server.callback.handler.class", Kind.CLASS, None, "Java class that checks clients."),
    _inert("sasl.client.callback.handler.class", Kind.CLASS, None, "Java class that answers other brokers."),
    _inert("sasl.server.max.receive.size", Kind.INT, 524288, "Largest message before a client is known.", "bytes"),
)

LOGIN = (
    _inert("sasl.login.callback.handler.class", Kind.CLASS, None, "Java class that gets credentials."),
    _inert("sasl.login.class", Kind.CLASS, None, "Java class that logs in."),
    _inert("sasl.login.connect.timeout.ms", Kind.INT, None, "Time to reach the identity provider.", "ms"),
    _inert("sasl.login.read.timeout.ms", Kind.INT, None, "Time for its answer.", "ms"),
    _inert("sasl.login.retry.backoff.ms", Kind.LONG, 100, "Pause after a failure.", "ms"),
    _inert("sasl.login.retry.backoff.max.ms", Kind.LONG, 10000, "Longest such pause.", "ms"),
    _dynamic("sasl.login.refresh.buffer.seconds", Kind.SHORT, 300, "Time before expiry that a refresh keeps.", "s"),
    _dynamic("sasl.login.refresh.min.period.seconds", Kind.SHORT, 60, "Least time between two refreshes.", "s"),
    _dynamic(
        "sasl.login.refresh.window.factor",
        Kind.DOUBLE,
        0.8,
        "Share of a credential's life after which it is refreshed.",
    ),
    _dynamic("sasl.login.refresh.window.jitter", Kind.DOUBLE, 0.05, "Random part of it."),
)

KERBEROS = (
    _dynamic("sasl.kerberos.service.name", Kind.STRING, None, "Name of the broker's service."),
    _dynamic("sasl.kerberos.kinit.cmd", Kind.STRING, "/usr/bin/kinit", "Path of kinit."),
    _dynamic("sasl.kerberos.min.time.before.relogin", Kind.LONG, 60000, "Least time between two logins.", "ms"),
    _dynamic(
        "sasl.kerberos.principal.to.local.rules",
        Kind.LIST,
        "DEFAULT",
        "Rules from Kerberos names to principals.",
        check=distinct,
    ),
    _dynamic("sasl.kerberos.ticket.renew.jitter", Kind.DOUBLE, 0.05, "Random part of the renewal time."),
    _dynamic(
        "sasl.kerberos.ticket.renew.window.factor",
        Kind.DOUBLE,
        0.8,
        "Share of a ticket's life after which it is renewed.",
    ),
)

OAUTH_TOKENS = (
    _inert("sasl.oauthbearer.expected.audience", Kind.LIST, "", "Audiences that a token may be for.", check=distinct),
    _inert("sasl.oauthbearer.expected.issuer", Kind.STRING, None, "Issuer that a token must name."),
    _inert("sasl.oauthbearer.clock.skew.seconds", Kind.INT, 30, "Difference of clocks that is tolerated.", "s"),
    _inert("sasl.oauthbearer.scope.claim.name", Kind.STRING, "scope", "Claim that holds the scope."),
    _inert("sasl.oauthbearer.sub.claim.name", Kind.STRING, "sub", "Claim that holds the subject."),
    _inert("sasl.oauthbearer.jwks.endpoint.url", Kind.STRING, None, "Where the issuer's keys are."),
    _inert(
        "sasl.oauthbearer.jwks.endpoint.refresh.ms", Kind.LONG, 3600000, "Time between two readings of the keys.", "ms"
    ),
    _inert("sasl.oauthbearer.jwks.endpoint.retry.backoff.ms", Kind.LONG, 100, "Pause after a failure.", "ms"),
    _inert("sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms", Kind.LONG, 10000, "Longest such pause.", "ms"),
    _inert(
        "sasl.oauthbearer.jwt.validator.class",
        Kind.CLASS,
        "org.apache.kafka.common.security.oauthbearer.DefaultJwtValidator",
        "Java class that checks tokens.",
    ),
)

OAUTH_LOGIN = (
    _inert(
        "sasl.oauthbearer.jwt.retriever.class",
        Kind.CLASS,
        "org.apache.kafka.common.security.oauthbearer.DefaultJwtRetriever",
        "Java class that gets tokens.",
    ),
    _inert("sasl.oauthbearer.token.endpoint.url", Kind.STRING, None, "Where tokens are asked for."),
    _inert("sasl.oauthbearer.scope", Kind.STRING, None, "Scope to ask for."),
    _inert("sasl.oauthbearer.client.credentials.client.id", Kind.STRING, None, "Name to ask with."),
    _inert("sasl.oauthbearer.client.credentials.client.secret", Kind.PASSWORD, None, "Secret to ask with."),
    _inert(
        "sasl.oauthbearer.assertion.algorithm",
        Kind.STRING,
        "RS256",
        "Algorithm that signs an assertion.",
        choices=("ES256", "RS256", "es256", "rs256"),
    ),
    _inert("sasl.oauthbearer.assertion.claim.aud", Kind.STRING, None, "Audience of an assertion."),
    _inert(
        "sasl.oauthbearer.assertion.claim.exp.seconds",
        Kind.INT,
        300,
        "Life of an assertion.",
        "s",
        minimum=0,
        maximum=86400,
    ),
    _inert("sasl.oauthbearer.assertion.claim.iss", Kind.STRING, None, "Issuer of an assertion."),
    _inert("sasl.oauthbearer.assertion.claim.jti.include", Kind.BOOLEAN, False, "Give each assertion an id."),
    _inert(
        "sasl.oauthbearer.assertion.claim.nbf.seconds",
        Kind.INT,
        60,
        "How far back an assertion is valid.",
        "s",
        minimum=0,
        maximum=3600,
    ),
    _inert("sasl.oauthbearer.assertion.claim.sub", Kind.STRING, None, "Subject of an assertion."),
    _inert("sasl.oauthbearer.assertion.file", Kind.STRING, None, "File with a finished assertion."),
    _inert(
        "sasl.oauthbearer.assertion.private.key.file", Kind.STRING, None, "File with the key that signs assertions."
    ),
    _inert("sasl.oauthbearer.assertion.private.key.passphrase", Kind.PASSWORD, None, "Password of that key."),
    _inert("sasl.oauthbearer.assertion.template.file", Kind.STRING, None, "File with claims for assertions."),
)

SETTINGS = (*MECHANISMS, *LOGIN, *KERBEROS, *OAUTH_TOKENS, *OAUTH_LOGIN)
