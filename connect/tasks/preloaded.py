"""The plugins that every task knows. The process that tasks are forked from loads this once, and all of them share the memory."""

from __future__ import annotations

from typing import Final

from connect.plugins.catalogue import Plugins, installed

PLUGINS: Final[Plugins] = installed()
