"""`meta.properties`: which cluster and node a log directory belongs to."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Final

FILE_NAME: Final = "meta.properties"

_VERSION: Final = "1"


def encode_uuid(raw: bytes) -> str:
    """16 bytes as Kafka writes ids in text."""
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def decode_uuid(text: str) -> bytes:
    """The 16 bytes of an id; ValueError if it is none."""
    raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if len(raw) != 16:
        raise ValueError(f"the id {text!r} stands for {len(raw)} bytes, not 16")
    return raw


@dataclass(frozen=True, slots=True)
class MetaProperties:
    cluster_id: str
    node_id: int
    directory_id: str

    def format(self) -> bytes:
        lines = (
            "#",
            f"cluster.id={self.cluster_id}",
            f"directory.id={self.directory_id}",
            f"node.id={self.node_id}",
            f"version={_VERSION}",
        )
        return "".join(f"{line}\n" for line in lines).encode()

    @classmethod
    def parse(cls, data: bytes) -> MetaProperties:
        """Read the file's content; ValueError when something is missing or of another version."""
        values: dict[str, str] = {}
        for line in data.decode().splitlines():
            if line.strip() and not line.lstrip().startswith("#"):
                name, _, value = line.partition("=")
                values[name.strip()] = value.strip()
        if "version" not in values:
            raise ValueError("it does not say its version, so it was cut off or is another file")
        if values["version"] != _VERSION:
            raise ValueError(f"its version is {values['version']!r}, and only {_VERSION} is known")
        missing = [name for name in ("cluster.id", "node.id", "directory.id") if not values.get(name)]
        if missing:
            raise ValueError(f"{' and '.join(missing)} missing")
        return cls(values["cluster.id"], int(values["node.id"]), values["directory.id"])
