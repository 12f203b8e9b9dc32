"""A Spark cluster of one machine: a standalone master and a worker, from the package of PySpark."""

from __future__ import annotations

import re
from pathlib import Path

import pyspark

from tests.ports import HOST
from tests.service_process import ServiceProcess
from tests.sql_service import QUICK_JAVA

SPARK_HOME = Path(pyspark.__file__).parent
CORES = 2
MEMORY_MB = 1024
PROGRAM = (
    "env",
    f"SPARK_DAEMON_JAVA_OPTS={QUICK_JAVA}",
    f"SPARK_LAUNCHER_OPTS={QUICK_JAVA}",
    f"{SPARK_HOME}/bin/spark-class",
)

_MASTER = re.compile(r"Starting Spark master at (spark://\S+)")
_REGISTERED = "Successfully registered with master"


class SparkMaster(ServiceProcess):
    @property
    def address(self) -> str:
        found = _MASTER.search(self.log.read_text())
        return "" if found is None else found[1]

    def command(self) -> list[str]:
        main = "org.apache.spark.deploy.master.Master"
        return [*PROGRAM, main, "--host", HOST, "--port", "0", "--webui-port", "0"]

    def is_ready(self) -> bool:
        return bool(self.address)


class SparkWorker(ServiceProcess):
    """Its executors find this Python by the path that the driver tells."""

    def __init__(self, home: Path, master: SparkMaster) -> None:
        super().__init__(home)
        self._master = master

    @property
    def address(self) -> str:
        return self._master.address

    def command(self) -> list[str]:
        main = "org.apache.spark.deploy.worker.Worker"
        shape = ["--cores", str(CORES), "--memory", f"{MEMORY_MB}M", "--work-dir", str(self.home / "work")]
        where = ["--host", HOST, "--webui-port", "0", self._master.address]
        return [*PROGRAM, main, *shape, *where]

    def is_ready(self) -> bool:
        return _REGISTERED in self.log.read_text()
