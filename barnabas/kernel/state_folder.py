"""Where programs of this user remember something from one run to the next."""

from __future__ import annotations

import os
from pathlib import Path


def state_folder() -> Path:
    """It may not be there. RuntimeError for a user who has no home."""
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "barnabas"
