"""Addresses of clients, in one way of writing each."""

from __future__ import annotations

import ipaddress
import socket


def canonical(host: str) -> str:
    """An address as quotas know it: IPv4 in its own form, also when it came in through an IPv6 socket."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return str(mapped or address)


def literal(name: str) -> str | None:
    """The address that a text spells, None if it is the name of a machine. Asks nobody."""
    try:
        found = socket.getaddrinfo(name, None, flags=socket.AI_NUMERICHOST)
    except (OSError, UnicodeError):
        return None
    return canonical(str(found[0][4][0]))
