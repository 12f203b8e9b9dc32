"""Forks Spark's Python workers: `python -m streams_sql.spark.shards.worker_daemon WORKER`, which Spark starts in place of a daemon of its own.

What workers need is imported before they are forked. Otherwise each would take most of a second to import it, and keep a copy of its own.
"""

from __future__ import annotations

import gc
import os
from typing import Final

from pyspark import daemon

YOUNG_OBJECTS_MAX: Final = 500_000
"""More than a worker makes at once: records and rows hold no cycles, and looking for some in them took most of its time."""


def main() -> None:
    # Its threads would not be there in the workers.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # pyarrow looks for pandas when it makes its first array; Spark's client of the state store looks for numpy, in its tools for tests.
    import pandas  # type: ignore[import-untyped]
    import pyspark.worker
    from pyspark.sql.pandas import serializers
    from pyspark.testing import utils

    from streams_sql.spark.jobs import stages
    from streams_sql.spark.shards import stage as shard_stage
    from streams_sql.spark.shards import tasks as shards
    from streams_sql.spark.sources import range_reading, topic_source

    assert all((pandas, pyspark.worker, serializers, utils, range_reading, shard_stage, shards, stages, topic_source))
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS_MAX)
    daemon.manager()


if __name__ == "__main__":
    main()
