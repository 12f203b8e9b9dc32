"""Where routes get the engine: HTTP is served while the server still starts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from streams_sql.engine.engine import Engine

EngineProvider: TypeAlias = Callable[[], Engine]
"""Unavailable until the server has started."""
