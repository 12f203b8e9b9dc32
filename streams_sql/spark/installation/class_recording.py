"""Run what queries run, so that Java writes the classes that they load into an archive: `python -m streams_sql.spark.installation.class_recording FILE`."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from streams_sql.spark.driver.session import SHARD_SETTINGS, open_session

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]
    from pyspark.sql import SparkSession

JAVA_END_DEADLINE_S: Final = 300
_QUICK_START: Final = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""It is over before code is worth being compiled well."""

_ROWS: Final = 8


def main(archive: str) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        settings = {
            **SHARD_SETTINGS,
            "spark.driver.extraJavaOptions": f'"-XX:ArchiveClassesAtExit={archive}" {_QUICK_START}',
            "spark.local.dir": scratch,
        }
        session = open_session("local[2]", settings)
        _run_stream(session, f"{scratch}/checkpoint")
        gateway = session.sparkContext._gateway
        assert gateway is not None
        session.stop()
        # Java ends when nobody can write to it any more, and writes the archive then.
        gateway.proc.stdin.close()
        gateway.proc.wait(JAVA_END_DEADLINE_S)


def _run_stream(session: SparkSession, checkpoint: str) -> None:
    """A query with Python code and state."""
    frame = session.readStream.format("rate-micro-batch").option("rowsPerBatch", _ROWS).load()
    mapped = frame.mapInArrow(_same, frame.schema)
    counted = (
        mapped.selectExpr("CAST(value AS STRING) AS key", "struct(timestamp, value) AS row").groupBy("key").count()
    )
    writer = counted.writeStream.format("noop").outputMode("update").option("checkpointLocation", checkpoint)
    query = writer.trigger(availableNow=True).start()
    query.awaitTermination()


def _same(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    return batches


if __name__ == "__main__":
    main(sys.argv[1])
