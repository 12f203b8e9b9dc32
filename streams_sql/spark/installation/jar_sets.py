"""Java libraries by their coordinates: each set lies in its own folder under the user's cache and is fetched once, through Maven where
it is installed, else through the Ivy that pyspark carries. Either honours the user's own mirror: Maven by its settings, Ivy by the
settings file that the variable IVY_SETTINGS names."""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from xml.sax.saxutils import quoteattr

from streams_sql.spark.installation import java, trust_store
from streams_sql.spark.installation.cache import cache_root

FETCH_DEADLINE_S: Final = 900
STAMP_NAME: Final = "complete.txt"
PROBLEM_LINES_MAX: Final = 5
PROBLEM_CHARACTERS_MAX: Final = 1000
IVY_MAVEN_NAMESPACE: Final = "http://ant.apache.org/ivy/maven"
IVY_SETTINGS: Final = "IVY_SETTINGS"
JAVA_OPTIONS: Final = "JAVA_TOOL_OPTIONS"

_TRUST_STORE: Final = "javax.net.ssl.trustStore"
_UNTRUSTED: Final = "unable to find valid certification path"
"""What Java says when it does not trust a server's certificate."""


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
        program = _maven if shutil.which("mvn") else _ivy
        _run(program(jars, Path(scratch), arriving), jars, Path(scratch))
        verify(jars, arriving)
        names = sorted(path.name for path in arriving.iterdir())
        (arriving / STAMP_NAME).write_text(wanted(jars) + "\n\n" + "\n".join(names) + "\n")
        if folder.exists():
            shutil.rmtree(folder)
        arriving.rename(folder)


def _maven(jars: JarSet, scratch: Path, arriving: Path) -> list[str]:
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
    return ["mvn", "-q", "-B", "-f", str(pom), *goal]


def _ivy(jars: JarSet, scratch: Path, arriving: Path) -> list[str]:
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
    if settings := os.environ.get(IVY_SETTINGS):
        choice = ["-settings", settings, *choice]
    return [*command, *choice, "-retrieve", f"{arriving}/[artifact]-[revision](-[classifier]).[ext]"]


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


def _run(command: list[str], jars: JarSet, scratch: Path) -> None:
    environment = {**os.environ, "JAVA_HOME": str(_java_home(jars))}
    done = _ended(command, environment, jars)
    if done.returncode and _UNTRUSTED in done.stdout and (trusting := _with_trust_of_system(environment, scratch)):
        done = _ended(command, trusting, jars)
    if done.returncode:
        raise JarError(
            f"Fetching the jars {jars.name} failed; is the network there? Mirrors are set in Maven's settings, or for Ivy in the file "
            f"that {IVY_SETTINGS} names. {Path(command[0]).name} said:\n{_first_problems(done.stdout)}"
        )


def _ended(command: list[str], environment: Mapping[str, str], jars: JarSet) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
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


def _with_trust_of_system(environment: Mapping[str, str], scratch: Path) -> Mapping[str, str] | None:
    """The environment for Java with the system's certificates instead of its own; None where there are none, or the user has chosen."""
    options = environment.get(JAVA_OPTIONS, "")
    source = trust_store.bundle()
    if source is None or _TRUST_STORE in options:
        return None
    store = scratch / "trusted.jks"
    trust_store.write(source, store)
    return {**environment, JAVA_OPTIONS: f"{options} -D{_TRUST_STORE}={store}".strip()}


def _first_problems(text: str) -> str:
    """The lines that name what is wrong: both programs say it once for each file."""
    lines = [line.strip() for line in text.splitlines()]
    named = [line for line in lines if "rror" in line or "unresolved" in line or "exception" in line.lower()]
    return "\n".join((named or lines)[:PROBLEM_LINES_MAX])[:PROBLEM_CHARACTERS_MAX]


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
    """Two programs that start together must not fetch into the same folder."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
