"""Whether the machines of a cluster can run what queries ask of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib.metadata import version
from typing import Final

import pyarrow as pa  # type: ignore[import-untyped]
from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from streams_sql.spark.driver.failures import root_cause

_MISSING: Final = ("ModuleNotFoundError", "ImportError", "Cannot run program", "PYTHON_VERSION_MISMATCH")


class ExecutorsUnfit(Exception):
    """The machines of a cluster lack what queries need; the message says what to do."""


def check_executors(session: SparkSession) -> None:
    """Run one small job on each of Spark's slots. ExecutorsUnfit."""
    slots = session.sparkContext.defaultParallelism
    try:
        frame = session.range(slots, numPartitions=slots).mapInArrow(_report, "version string")
        found = {row["version"] for row in frame.collect()}
    except (PySparkException, Py4JJavaError) as error:
        text = str(error)
        if not any(word in text for word in _MISSING):
            raise
        raise ExecutorsUnfit(
            f"The machines of the Spark cluster cannot run queries: {root_cause(text)}. Install barnabas[sql] {version('barnabas')} there, "
            "for the same version of Python as here, and set spark.pyspark.python to that Python if it has another path."
        ) from None
    others = found - {version("barnabas")}
    if others:
        raise ExecutorsUnfit(
            f"The machines of the Spark cluster have barnabas {', '.join(sorted(others))}, and this server is {version('barnabas')}: "
            "install the same version there."
        )


def _report(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """In a worker: all that a query imports, and which version it is."""
    from streams_sql.spark.jobs import (
        codecs,  # noqa: F401
        producers,  # noqa: F401
        stages,  # noqa: F401
    )

    for _ in batches:
        yield pa.RecordBatch.from_pydict({"version": [version("barnabas")]})
