"""The declarations of the settings that every HTTP service has. Apart from what they come to, so that a catalogue loads no server."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from barnabas.kernel.service_settings import REQUEST_SETTINGS
from barnabas.kernel.settings import Kind, Setting


def inert(why: str, names: Iterable[str]) -> Iterator[Setting]:
    """Settings of Confluent's services that are taken so that their files can be used as they are."""
    for name in names:
        yield Setting(
            name, Kind.STRING, None, f"Taken, and without effect: {why}.", secret=_may_be_secret(name), inert=why
        )


def _may_be_secret(name: str) -> bool:
    return "*" in name or any(word in name for word in ("password", "secret", "sasl"))


_ACTING: Final = (
    Setting("compression.enable", Kind.BOOLEAN, True, "Compress answers for clients that accept it."),
    Setting(
        "request.timeout.ms",
        Kind.INT,
        60_000,
        "How long a request that is no stream may take before it is answered with 503.",
        "ms",
        minimum=1,
    ),
    Setting(
        "access.control.allow.origin",
        Kind.STRING,
        "",
        "Origins whose pages browsers let call us; none when empty, and then only pages of our own may change anything.",
    ),
    Setting(
        "allowed.host.names",
        Kind.LIST,
        "",
        "Names under which a service is called that listens on loopback alone, beside localhost, addresses, and what is advertised: those of a"
        " proxy in front that passes Host on. * for any.",
    ),
    Setting(
        "access.control.allow.methods",
        Kind.STRING,
        "GET,POST,PUT,DELETE,PATCH,OPTIONS,HEAD",
        "Methods that browsers may call from other origins.",
    ),
    Setting(
        "access.control.allow.headers",
        Kind.STRING,
        "Content-Type,Accept,Origin,Authorization",
        "Headers that browsers may send from other origins.",
    ),
    Setting(
        "access.control.skip.options",
        Kind.BOOLEAN,
        True,
        "Answer a browser's pre-flight question without authentication.",
    ),
    Setting(
        "authentication.method",
        Kind.STRING,
        "NONE",
        "How clients prove who they are; there is no way yet.",
        choices=("NONE",),
    ),
    Setting(
        "response.http.headers.config",
        Kind.STRING,
        "",
        "Further headers of every answer, in Confluent's form: set X-Frame-Options: DENY, add …",
    ),
    Setting("ssl.certificate", Kind.STRING, "", "PEM file with the certificate of https listeners, and its chain."),
    Setting("ssl.key", Kind.STRING, "", "PEM file with the key of that certificate."),
    Setting("ssl.key.password", Kind.PASSWORD, None, "Password of that key."),
)

# What would let in those whom the operator means to keep out is not passed over.
_REFUSED: Final = (
    Setting(
        "ssl.client.auth",
        Kind.STRING,
        None,
        "Ask clients for certificates; not done yet.",
        choices=("false",),
        any_case=True,
    ),
    Setting(
        "ssl.client.authentication",
        Kind.STRING,
        None,
        "Whether clients must have certificates; they are not asked for yet.",
        choices=("none",),
        any_case=True,
    ),
)

_JETTY: Final = "it is about the server of Java's services"
_JAVA: Final = "it names a class of Java"
_KEY_STORES: Final = "certificates are PEM files, in ssl.certificate and ssl.key"
_METRICS: Final = "metrics are for Prometheus, at /metrics"
_NOT_HERE: Final = "there is no such filter"

_INERT: Final = (
    *inert(
        _JETTY,
        (
            "connector.connection.limit",
            "debug",
            "http2.enabled",
            "idle.timeout.ms",
            "jetty.legacy.uri.compliance",
            "listener.protocol.map",
            "max.request.header.size",
            "max.response.header.size",
            "proxy.protocol.accepted.ip.range",
            "proxy.protocol.enabled",
            "request.logger.name",
            "request.queue.capacity",
            "request.queue.capacity.growby",
            "request.queue.capacity.init",
            "request.timeout.interrupt.enable",
            "response.mediatype.default",
            "response.mediatype.preferred",
            "return.429.instead.of.500.for.jetty.response.errors",
            "server.connection.limit",
            "shutdown.graceful.ms",
            "suppress.stack.trace.response",
            "thread.pool.max",
            "thread.pool.min",
            "websocket.path.prefix",
        ),
    ),
    *inert(
        _JAVA,
        (
            "metric.reporters",
            "metric.reporters.*",
            "resource.extension.class",
            "resource.extension.classes",
            "rest.servlet.initializor.classes",
            "websocket.servlet.initializor.classes",
        ),
    ),
    *inert(
        _KEY_STORES,
        (
            "ssl.cipher.suites",
            "ssl.enabled.protocols",
            "ssl.endpoint.identification.algorithm",
            "ssl.keymanager.algorithm",
            "ssl.keystore.location",
            "ssl.keystore.password",
            "ssl.keystore.reload",
            "ssl.keystore.type",
            "ssl.keystore.watch.location",
            "ssl.protocol",
            "ssl.provider",
            "ssl.spire.enabled",
            "ssl.spire.trust.only.enabled",
            "ssl.trustmanager.algorithm",
            "ssl.truststore.location",
            "ssl.truststore.password",
            "ssl.truststore.type",
        ),
    ),
    *inert(
        _METRICS,
        (
            "disable.response.size.metrics.collection",
            "metrics.global.stats.request.tags.enable",
            "metrics.jmx.prefix",
            "metrics.latency.sla.ms",
            "metrics.latency.slo.ms",
            "metrics.latency.slo.sla.enable",
            "metrics.num.samples",
            "metrics.sample.window.ms",
            "metrics.tag.map",
            "percentile.max.latency.ms",
        ),
    ),
    *inert(
        _NOT_HERE,
        (
            "access.control.expose.headers",
            "csrf.prevention.*",
            "dos.filter.*",
            "expected.sni.headers",
            "hsts.header.enable",
            "network.forwarded.request.customizer.enable",
            "network.traffic.rate.limit.*",
            "nosniff.prevention.enable",
            "prefix.sni.check.enabled",
            "prefix.sni.prefix",
            "reject.invalid.sni.headers",
            "reject.options.request",
            "sni.check.enabled",
            "sni.host.check.enabled",
        ),
    ),
    *inert(
        "there is no authentication yet", ("authentication.realm", "authentication.roles", "authentication.skip.paths")
    ),
)

HTTP_SETTINGS: Final = (*REQUEST_SETTINGS, *_ACTING, *_REFUSED, *_INERT)
