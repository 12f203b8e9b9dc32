"""Spark's home without the archive of its Python code.

Spark puts that archive before everything else on the path of its Python workers, and what lies in an archive is compiled anew in each
process: 0.7 s of processor time instead of 0.1 s. A worker of a join that is not there after 10 s is given up, and the query with it, so
that on a busy machine this decides whether queries start at all. The installed package holds the same code, compiled already.
"""

from __future__ import annotations

import hashlib
import shutil
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Final

import pyspark

from streams_sql.spark.installation.cache import cache_root

DIGEST_CHARACTERS: Final = 8

_PREFIX: Final = "spark-home-"
_PARTS: Final = ("bin", "conf", "jars", "sbin")


def light_home() -> Path | None:
    """A folder of links to the installed package, made where there is none yet; None where it cannot be made, and the archive is used."""
    try:
        return _made()
    except OSError:
        return None


def _made() -> Path:
    package = Path(pyspark.__file__).parent
    digest = hashlib.sha256(str(package).encode()).hexdigest()[:DIGEST_CHARACTERS]
    home = cache_root() / f"{_PREFIX}{version('pyspark')}-{digest}"
    home.mkdir(parents=True, exist_ok=True)
    for name in _PARTS:
        if (package / name).exists():
            # Another process may make it at the same moment.
            with suppress(FileExistsError):
                (home / name).symlink_to(package / name)
    return home


def remove_abandoned() -> None:
    """Those whose package is not there any more, with their archives of classes: each takes more than 100 MB."""
    for found in cache_root().glob(f"{_PREFIX}*"):
        jars = found / "jars"
        if jars.is_symlink() and not jars.exists():
            shutil.rmtree(found, ignore_errors=True)
