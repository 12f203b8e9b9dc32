"""The declarations of the settings that every HTTP service has. Apart from what they come to, so that a catalogue loads no server."""

from __future__ import annotations

from typing import Final

from barnabas.kernel.settings import Kind, Setting

HTTP_SETTINGS: Final = (
    Setting("compression.enable", Kind.BOOLEAN, True, "Compress answers for clients that accept it."),
    Setting(
        "request.timeout.ms",
        Kind.INT,
        60_000,
        "How long a request that is no stream may take before it is answered with 503.",
        "ms",
        minimum=1,
    ),
    Setting("access.control.allow.origin", Kind.STRING, "", "Origins that browsers may call from; none when empty."),
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
