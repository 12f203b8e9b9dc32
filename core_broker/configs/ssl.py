"""Broker settings of TLS listeners."""

from __future__ import annotations

from functools import partial

from barnabas.kernel.settings import Kind
from core_broker.configs.checks import distinct
from core_broker.configs.setting import BrokerSetting, Effect, UpdateMode

_inert = partial(BrokerSetting, effect=Effect.INERT, why="no TLS listener can be opened yet")
_dynamic = partial(_inert, mode=UpdateMode.PER_BROKER)

KEYS = (
    _dynamic("ssl.keystore.location", Kind.STRING, None, "File with the broker's key and certificates."),
    _dynamic("ssl.keystore.password", Kind.PASSWORD, None, "Password of that file."),
    _dynamic("ssl.keystore.type", Kind.STRING, "JKS", "Format of that file."),
    _dynamic("ssl.keystore.key", Kind.PASSWORD, None, "The key itself, as PEM."),
    _dynamic("ssl.keystore.certificate.chain", Kind.PASSWORD, None, "The certificates themselves, as PEM."),
    _dynamic("ssl.key.password", Kind.PASSWORD, None, "Password of the key."),
    _dynamic("ssl.truststore.location", Kind.STRING, None, "File with the certificates to trust."),
    _dynamic("ssl.truststore.password", Kind.PASSWORD, None, "Password of that file."),
    _dynamic("ssl.truststore.type", Kind.STRING, "JKS", "Format of that file."),
    _dynamic("ssl.truststore.certificates", Kind.PASSWORD, None, "The certificates to trust, as PEM."),
)

PROTOCOL = (
    _dynamic(
        "ssl.client.auth",
        Kind.STRING,
        "none",
        "Whether clients show a certificate.",
        choices=("required", "requested", "none"),
    ),
    _dynamic("ssl.protocol", Kind.STRING, "TLSv1.3", "Protocol of the context."),
    _dynamic("ssl.enabled.protocols", Kind.LIST, "TLSv1.2,TLSv1.3", "Protocols that are spoken.", check=distinct),
    _dynamic(
        "ssl.cipher.suites", Kind.LIST, "", "Cipher suites that are spoken; none: the library's own.", check=distinct
    ),
    _dynamic(
        "ssl.endpoint.identification.algorithm",
        Kind.STRING,
        "https",
        "How a host name is checked against a certificate.",
    ),
    _dynamic("ssl.provider", Kind.STRING, None, "Java provider of TLS."),
    _dynamic("ssl.engine.factory.class", Kind.CLASS, None, "Java class that makes TLS engines."),
    _dynamic("ssl.keymanager.algorithm", Kind.STRING, "SunX509", "Java algorithm for keys."),
    _dynamic("ssl.trustmanager.algorithm", Kind.STRING, "PKIX", "Java algorithm for trust."),
    _dynamic("ssl.secure.random.implementation", Kind.STRING, None, "Java source of randomness."),
    _inert("ssl.principal.mapping.rules", Kind.STRING, "DEFAULT", "Rules from a certificate's name to a principal's."),
    _inert("ssl.allow.dn.changes", Kind.BOOLEAN, False, "Let a new certificate have another name."),
    _inert("ssl.allow.san.changes", Kind.BOOLEAN, False, "Let a new certificate have other alternative names."),
)

SETTINGS = (*KEYS, *PROTOCOL)
