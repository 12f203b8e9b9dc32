"""Ports for processes that must keep theirs over a restart, and ports at which nobody listens."""

import fcntl
import os
import random
import socket
import tempfile
from functools import cache
from pathlib import Path

HOST = "127.0.0.1"
# Below the range from which systems take ports for outgoing connections: a client that knocks while nobody listens could
# otherwise be given the very port and connect to itself.
PORTS = range(20_000, 32_000)
ATTEMPTS = 200


def free_port() -> int:
    """A port that belongs to this process until it ends: nobody else is given it, not even while nobody listens there."""
    return free_ports_in_a_row(1)


def free_ports_in_a_row(count: int) -> int:
    """The first of so many ports that follow each other."""
    for first in random.sample(range(PORTS.start, PORTS.stop - count), ATTEMPTS):
        ports = range(first, first + count)
        # All are tried before one is reserved: what is reserved stays so.
        if all(map(_can_be_bound, ports)) and all(map(_reserve, ports)):
            return first
    raise OSError(f"no {count} free ports in a row among {ATTEMPTS} tried between {PORTS.start} and {PORTS.stop}")


def _can_be_bound(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


_reserved: set[int] = set()


def _reserve(port: int) -> bool:
    """Lock the byte of the port in a file that all test processes of this user share; the system unlocks it when this one ends."""
    if port in _reserved:
        return False
    try:
        fcntl.lockf(_reservations(), fcntl.LOCK_EX | fcntl.LOCK_NB, 1, port)
    except OSError:
        return False
    _reserved.add(port)
    return True


@cache
def _reservations() -> int:
    """The descriptor stays open: closing any one of a file would unlock all that this process holds of it."""
    file = Path(tempfile.gettempdir()) / f"barnabas-test-ports-{os.getuid()}"
    return os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
