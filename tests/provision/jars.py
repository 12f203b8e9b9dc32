"""Fetch the Java libraries that the tests and the benchmarks run: Apache Kafka's tools and Spark's Kafka connector.

Each set lies in its own folder under the user's cache and is fetched once, through Maven where it is installed, else
through the Ivy that pyspark carries. Run it with `python -m tests.provision.jars`.
"""

import fcntl
import hashlib
import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import quoteattr

from tests.provision import java
from tests.provision.cache import cache_root

FETCH_DEADLINE_S = 900
STAMP_NAME = "complete.txt"
ERROR_TAIL_CHARACTERS = 2000
IVY_MAVEN_NAMESPACE = "http://ant.apache.org/ivy/maven"


class JarError(Exception):
    """The jars of a set could not be had; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Artifact:
    organisation: str
    name: str
    version: str
    sha256: str = ""
    classifier: str = ""
    extension: str = "jar"

    @property
    def coordinates(self) -> str:
        return f"{self.organisation}:{self.name}:{self.version}{self._classified(':')}"

    @property
    def file_name(self) -> str:
        return f"{self.name}-{self.version}{self._classified('-')}.{self.extension}"

    def _classified(self, separator: str) -> str:
        return separator + self.classifier if self.classifier else ""


@dataclass(frozen=True, slots=True)
class JarSet:
    """Jars that go on one class path; a transitive set brings the runtime dependencies of its artifacts along."""

    name: str
    artifacts: tuple[Artifact, ...]
    transitive: bool

    def folder(self) -> Path:
        return cache_root() / "jars" / self.name


KAFKA = JarSet(
    "kafka-4.3.0",
    (
        Artifact("org.apache.kafka", "kafka_2.13", "4.3.0"),
        Artifact("org.apache.kafka", "kafka-tools", "4.3.0"),
        # Clients of the broker in the tests: a Connect worker with its file connectors, MirrorMaker, a word count on Streams.
        Artifact("org.apache.kafka", "connect-file", "4.3.0"),
        Artifact("org.apache.kafka", "connect-mirror", "4.3.0"),
        Artifact("org.apache.kafka", "kafka-streams-examples", "4.3.0"),
        # Kafka logs through slf4j 1.7, which is what log4j-slf4j-impl (not slf4j2-impl) serves.
        Artifact("org.apache.logging.log4j", "log4j-slf4j-impl", "2.25.4"),
        Artifact("org.apache.logging.log4j", "log4j-core", "2.25.4"),
    ),
    transitive=True,
)

# The connector's own dependencies are pinned here instead of resolved: the release of the token provider that the
# connector names is not on every mirror, and Spark brings all the rest.
SPARK = JarSet(
    "spark",
    (
        Artifact(
            "org.apache.spark",
            "spark-sql-kafka-0-10_2.13",
            "4.2.0",
            "64539c45e5d39f7ddb747312c239f38f5208d08c1a0ddf7d70beb2fbd9373705",
        ),
        Artifact(
            "org.apache.spark",
            "spark-token-provider-kafka-0-10_2.13",
            "4.0.0",
            "f2be3b76f9e6cbe63379d4e4e0dc14f59dbf056ae2ad16ff15ac108004c86767",
        ),
        Artifact(
            "org.apache.spark",
            "spark-avro_2.13",
            "4.1.1",
            "6a19d90bc3b6e88d8db0fa36a19273aa10fea2dbd7a62bb60e4cedd73051b32d",
        ),
        Artifact(
            "org.apache.kafka",
            "kafka-clients",
            "3.9.2",
            "014b4ef36884478a932641818b080c36a8f8e2e92dc771e800c9d2694f4f83d8",
        ),
        Artifact(
            "org.apache.commons",
            "commons-pool2",
            "2.13.1",
            "f77a5060d6936a9144023584232f9de3f2248f1abfe156e9d31795f18770674f",
        ),
    ),
    transitive=False,
)

# A whole program, not a class path: an archive to unpack. The benchmark of the registry fetches it, no test does.
APICURIO = JarSet(
    "apicurio-3.3.3",
    (
        Artifact(
            "io.apicurio",
            "apicurio-registry-app",
            "3.3.3",
            "8bc6751c76d963734224b01d5e7f84ccb3cb61c87d3bd77c36c35f10a5cbed63",
            classifier="all",
            extension="tar.gz",
        ),
    ),
    transitive=False,
)

SETS = (KAFKA, SPARK)


def is_complete(jars: JarSet) -> bool:
    """True when the stamp names the artifacts that are asked for and every file that it lists is there."""
    stamp = jars.folder() / STAMP_NAME
    if not stamp.is_file():
        return False
    asked, _, files = stamp.read_text().partition("\n\n")
    return asked == wanted(jars) and all((jars.folder() / name).is_file() for name in files.split())


def provide(jars: JarSet) -> Path:
    """Return the folder with the set's jars; fetch them first if they are not there."""
    folder = jars.folder()
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _locked(folder.with_name(f"{folder.name}.lock")):
        if not is_complete(jars):
            _fetch(jars, folder)
    return folder


def _fetch(jars: JarSet, folder: Path) -> None:
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f"{folder.name}.") as scratch:
        arriving = Path(scratch) / "arriving"
        arriving.mkdir()
        if shutil.which("mvn"):
            _fetch_with_maven(jars, Path(scratch), arriving)
        else:
            _fetch_with_ivy(jars, Path(scratch), arriving)
        verify(jars, arriving)
        names = sorted(path.name for path in arriving.iterdir())
        (arriving / STAMP_NAME).write_text(wanted(jars) + "\n\n" + "\n".join(names) + "\n")
        if folder.exists():
            shutil.rmtree(folder)
        arriving.rename(folder)


def _fetch_with_maven(jars: JarSet, scratch: Path, arriving: Path) -> None:
    alone = "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>"
    dependencies = "".join(
        f"<dependency><groupId>{artifact.organisation}</groupId><artifactId>{artifact.name}</artifactId>"
        f"<version>{artifact.version}</version><type>{artifact.extension}</type>"
        + (f"<classifier>{artifact.classifier}</classifier>" if artifact.classifier else "")
        + f"{'' if jars.transitive else alone}</dependency>"
        for artifact in jars.artifacts
    )
    pom = scratch / "pom.xml"
    pom.write_text(
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        "<groupId>barnabas</groupId><artifactId>jars</artifactId><version>1</version>"
        f"<dependencies>{dependencies}</dependencies></project>"
    )
    goal = ["dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={arriving}"]
    _run(["mvn", "-q", "-B", "-f", str(pom), *goal], jars)


def _fetch_with_ivy(jars: JarSet, scratch: Path, arriving: Path) -> None:
    dependencies = "".join(
        f"<dependency org={quoteattr(artifact.organisation)} name={quoteattr(artifact.name)}"
        f' rev={quoteattr(artifact.version)} conf="default->default" transitive="{str(jars.transitive).lower()}">'
        f"{_ivy_artifact(artifact)}</dependency>"
        for artifact in jars.artifacts
    )
    module = scratch / "ivy.xml"
    module.write_text(
        f'<ivy-module version="2.0" xmlns:m="{IVY_MAVEN_NAMESPACE}"><info organisation="barnabas" module="jars"/>'
        '<configurations><conf name="default"/></configurations>'
        f"<dependencies>{dependencies}</dependencies></ivy-module>"
    )
    command = [str(_java_home(jars) / "bin" / "java"), "-jar", str(_ivy_jar(jars)), "-ivy", str(module)]
    # Maven's "bundle" packaging is a jar too; Ivy keeps the type apart.
    types = sorted({"jar", "bundle", *(artifact.extension for artifact in jars.artifacts)})
    choice = ["-cache", str(scratch / "ivy-cache"), "-confs", "default", "-types", *types, "-warn"]
    _run([*command, *choice, "-retrieve", f"{arriving}/[artifact]-[revision](-[classifier]).[ext]"], jars)


def _ivy_artifact(artifact: Artifact) -> str:
    """Which file of the module is meant, where it is not its jar."""
    if not artifact.classifier:
        return ""
    kind = quoteattr(artifact.extension)
    return f"<artifact name={quoteattr(artifact.name)} type={kind} ext={kind} m:classifier={quoteattr(artifact.classifier)}/>"


def _java_home(jars: JarSet) -> Path:
    home = java.find()
    if home is None:
        raise JarError(
            f"Fetching the jars {jars.name} needs Java {java.JAVA_MINIMUM} or newer: install it, or set JAVA_HOME."
        )
    return home


def _ivy_jar(jars: JarSet) -> Path:
    pyspark = importlib.util.find_spec("pyspark")
    if pyspark is None or pyspark.origin is None:
        raise JarError(f"No way to fetch the jars {jars.name}: install Maven, or pyspark, which carries Ivy.")
    found = sorted((Path(pyspark.origin).parent / "jars").glob("ivy-*.jar"))
    if not found:
        raise JarError(f"This pyspark has no Ivy beside {pyspark.origin}: install Maven to fetch the jars {jars.name}.")
    return found[-1]


def _run(command: list[str], jars: JarSet) -> None:
    environment = {**os.environ, "JAVA_HOME": str(_java_home(jars))}
    try:
        done = subprocess.run(
            command,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=FETCH_DEADLINE_S,
            check=False,
        )
    except subprocess.TimeoutExpired as expired:
        raise JarError(f"Fetching the jars {jars.name} took longer than {FETCH_DEADLINE_S} s.") from expired
    if done.returncode:
        tail = done.stdout[-ERROR_TAIL_CHARACTERS:]
        raise JarError(f"Fetching the jars {jars.name} failed; is the network there? {command[0]} said:\n{tail}")


def verify(jars: JarSet, arriving: Path) -> None:
    for artifact in jars.artifacts:
        path = arriving / artifact.file_name
        if not path.is_file():
            raise JarError(f"{artifact.coordinates} was fetched without an error, but {path.name} is not there.")
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        if artifact.sha256 and digest != artifact.sha256:
            raise JarError(
                f"{path.name} has sha256 {digest}, not {artifact.sha256}: the mirror serves another file. "
                "Fetch it from a mirror that you trust."
            )


def wanted(jars: JarSet) -> str:
    return "\n".join(artifact.coordinates for artifact in jars.artifacts)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Two test runs that start together must not fetch into the same folder."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def main() -> None:
    for jars in SETS:
        if is_complete(jars):
            continue
        print(f"fetching the jars {jars.name} into {jars.folder()}", flush=True)
        try:
            provide(jars)
        except JarError as error:
            print(f"{error}\nThe tests that need these jars will be skipped.")


if __name__ == "__main__":
    main()
