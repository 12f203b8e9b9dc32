"""Ports for processes that must keep theirs over a restart."""

import random
import socket

HOST = "127.0.0.1"
# Below the range from which systems take ports for outgoing connections: a client that knocks while nobody listens could
# otherwise be given the very port and connect to itself.
PORTS = range(20_000, 32_000)
ATTEMPTS = 200


def free_port() -> int:
    for port in random.sample(PORTS, ATTEMPTS):
        with socket.socket() as probe:
            try:
                probe.bind((HOST, port))
            except OSError:
                continue
            return port
    raise OSError(f"no free port among {ATTEMPTS} tried between {PORTS.start} and {PORTS.stop}")


def free_ports_in_a_row(count: int) -> int:
    """The first of so many ports that follow each other."""
    for first in random.sample(range(PORTS.start, PORTS.stop - count), ATTEMPTS):
        try:
            for port in range(first, first + count):
                with socket.socket() as probe:
                    probe.bind((HOST, port))
        except OSError:
            continue
        return first
    raise OSError(f"no {count} free ports in a row among {ATTEMPTS} tried")
