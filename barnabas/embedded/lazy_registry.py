"""A Schema Registry that starts when somebody first asks for it: most tests of statements need none."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from barnabas.embedded.platform import EmbeddedPlatform


class LazyRegistry:
    """One that is there already, or else one of our own on a broker of its own."""

    def __init__(self, url: str | None = None) -> None:
        self._url = url
        self._platform: EmbeddedPlatform | None = None

    @property
    def url(self) -> str:
        """MissingPackages, PlatformError."""
        if self._url is None:
            from barnabas.embedded.platform import EmbeddedPlatform

            self._platform = EmbeddedPlatform(["broker", "registry"])
            self._url = self._platform.schema_registry_url
        return self._url

    def close(self) -> None:
        if self._platform is not None:
            self._platform.close()

    def __enter__(self) -> LazyRegistry:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
