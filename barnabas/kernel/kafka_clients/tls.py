"""The way to brokers that speak TLS, for clients that are not librdkafka."""

from __future__ import annotations

import ssl
from collections.abc import Mapping


def tls_context(settings: Mapping[str, str]) -> ssl.SSLContext | None:
    """What settings of clients, Java's or librdkafka's, say of TLS; None: no TLS."""
    if settings.get("security.protocol", "PLAINTEXT").upper() not in ("SSL", "SASL_SSL"):
        return None
    trusted = settings.get("ssl.ca.location") or settings.get("ssl.truststore.location")
    context = ssl.create_default_context(cafile=trusted)
    context.check_hostname = settings.get("ssl.endpoint.identification.algorithm", "https") not in ("", "none")
    certificate = settings.get("ssl.certificate.location") or settings.get("ssl.keystore.location")
    if certificate:
        context.load_cert_chain(certificate, settings.get("ssl.key.location"), settings.get("ssl.key.password"))
    return context
