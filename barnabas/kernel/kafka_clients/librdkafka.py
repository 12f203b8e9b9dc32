"""What settings of Java's clients are to librdkafka."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from barnabas.kernel.kafka_clients.client_names import BUFFER_MEMORY, EQUALS, JAAS, KEYSTORE_TYPE

BYTES_PER_KB: Final = 1024

_PROTOCOL: Final = re.compile(r"[A-Za-z_]+://")
_LOGIN: Final = re.compile(r"""\b(username|password)\s*=\s*(?:"((?:\\.|[^"\\])*)"|'([^']*)'|([^\s;"']+))""")
_ESCAPE: Final = re.compile(r"\\(.)")

_VALUES: Final[Mapping[tuple[str, str], str]] = {
    ("auto.offset.reset", "none"): "error",
    ("ssl.endpoint.identification.algorithm", ""): "none",
    # What the system chooses.
    ("socket.receive.buffer.bytes", "-1"): "0",
    ("socket.send.buffer.bytes", "-1"): "0",
}
_ASSIGNORS: Final[Mapping[str, str]] = {
    "RangeAssignor": "range",
    "RoundRobinAssignor": "roundrobin",
    "CooperativeStickyAssignor": "cooperative-sticky",
}


def addresses(bootstrap_servers: Iterable[str]) -> str:
    """Java's clients pass over a protocol before an address; librdkafka would pass over the address."""
    return ",".join(_PROTOCOL.sub("", address.strip(), count=1) for address in bootstrap_servers)


def librdkafka_settings(given: Mapping[str, str]) -> dict[str, str]:
    """The same settings in librdkafka's names and values, wherever Java's clients have others."""
    found: dict[str, str] = {}
    for name, value in given.items():
        if name == BUFFER_MEMORY:
            found["queue.buffering.max.kbytes"] = (
                str(max(int(value) // BYTES_PER_KB, 1)) if value.isdecimal() else value
            )
        elif name == JAAS:
            found.update(_login(value))
        elif name == "partition.assignment.strategy":
            found[name] = ",".join(map(_assignor, value.split(",")))
        elif name != KEYSTORE_TYPE:
            own = EQUALS.get(name, name)
            found[own] = _VALUES.get((own, value), value)
    if given.get(KEYSTORE_TYPE, "").upper() == "PEM" and "ssl.keystore.location" in found:
        found["ssl.certificate.location"] = found["ssl.key.location"] = found.pop("ssl.keystore.location")
    return found


def _login(jaas: str) -> dict[str, str]:
    """User and password from the line that Java's login modules take: `…LoginModule required username="…" password="…";`"""
    return {
        f"sasl.{option}": _ESCAPE.sub(r"\1", quoted) if quoted else single or bare
        for option, quoted, single, bare in _LOGIN.findall(jaas)
    }


def _assignor(name: str) -> str:
    """A class of Java's, or already a name of librdkafka's."""
    word = name.strip().rpartition(".")[2]
    return _ASSIGNORS.get(word, word)
