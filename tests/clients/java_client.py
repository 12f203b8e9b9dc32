"""The Java client of Apache Kafka 4.3.0, through the tools that come with it."""

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.clients.records import CLIENT_LIMIT_BYTES, Headers, Read, Record
from tests.provision import kafka_classes

TOOL_DEADLINE_S = 180
STOP_DEADLINE_S = 90
OUTPUT_TAIL_CHARACTERS = 4000
CONSUME_DEADLINE_MS = 30_000
# Start-up is most of what a tool costs: the quick compiler, the simple collector.
QUICK_START = ("-Xmx256M", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Dfile.encoding=UTF-8")
NULL = "<null>"
FIELD_END = "\t"
NO_HEADERS = "NO_HEADERS"


@dataclass(frozen=True, slots=True)
class JavaTools:
    """Runs the main classes of Kafka's jars."""

    java: Path
    jars: Path

    def run(self, main_class: str, *arguments: str, text: str = "") -> str:
        """Run a tool and return what it printed; it must succeed."""
        done = self.attempt(main_class, *arguments, text=text)
        assert done.returncode == 0, f"{main_class} {arguments} said {done.stdout}{done.stderr}"
        return done.stdout

    def attempt(self, main_class: str, *arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
        command = self._command(main_class, arguments)
        return subprocess.run(
            command,
            input=text,
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",  # Headers need not be text.
            timeout=TOOL_DEADLINE_S,
            check=False,
        )

    def _command(self, main_class: str, arguments: Sequence[str]) -> list[str]:
        classes = kafka_classes.options(self.java, self.jars)
        return [str(self.java), *QUICK_START, *classes, "-cp", f"{self.jars}/*", main_class, *arguments]

    @contextmanager
    def running(self, main_class: str, *arguments: str, log: Path) -> Iterator[None]:
        """A program that runs until the block ends. It must not end before; what it says goes to `log`."""
        command = self._command(main_class, arguments)
        with log.open("wb") as output:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        try:
            yield
            assert process.poll() is None, f"{main_class} ended: {log.read_text()[-OUTPUT_TAIL_CHARACTERS:]}"
        except AssertionError as problem:
            problem.add_note(log.read_text(errors="replace")[-OUTPUT_TAIL_CHARACTERS:])
            raise
        finally:
            process.terminate()
            try:
                process.wait(STOP_DEADLINE_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


class JavaClient:
    """The console producer and consumer. Text only; the time is always the producer's own."""

    name = "java"

    def __init__(self, tools: JavaTools) -> None:
        self._tools = tools

    def can_write(self, record: Record) -> bool:
        """Headers with text; the tool parts headers with commas and cannot write a null one."""
        return all(value is not None and b"\x00" not in value for _, value in record.headers)

    def produce(
        self, address: str, topic: str, records: Sequence[Record], codec: str = "none", partition: int = 0
    ) -> None:
        assert partition == 0, "the console producer cannot choose a partition: use a topic that has only one"
        lines = [FIELD_END.join((_headers_text(r.headers), _text(r.key), _text(r.value))) for r in records]
        properties = ["parse.key=true", "parse.headers=true", f"null.marker={NULL}"]
        limits = [f"max.request.size={CLIENT_LIMIT_BYTES}"]
        self._tools.run(
            "org.apache.kafka.tools.ConsoleProducer",
            *("--bootstrap-server", address, "--topic", topic, "--compression-codec", codec),
            *(word for text in properties for word in ("--reader-property", text)),
            *(word for text in limits for word in ("--command-property", text)),
            text="".join(f"{line}\n" for line in lines),
        )

    def consume(self, address: str, topic: str, count: int, offset: int = 0, partition: int = 0) -> list[Read]:
        properties = [f"print.{what}=true" for what in ("timestamp", "offset", "headers", "key", "value")]
        properties.append(f"null.literal={NULL}")
        printed = self._tools.run(
            "org.apache.kafka.tools.consumer.ConsoleConsumer",
            *("--bootstrap-server", address, "--topic", topic, "--partition", str(partition)),
            *("--offset", str(offset), "--max-messages", str(count), "--timeout-ms", str(CONSUME_DEADLINE_MS)),
            *(word for text in properties for word in ("--formatter-property", text)),
        )
        return [_read(line) for line in printed.split("\n") if line]


def _text(part: bytes | None) -> str:
    return NULL if part is None else part.decode()


def _bytes(text: str) -> bytes | None:
    return None if text == NULL else text.encode(errors="surrogateescape")


def _headers_text(headers: Headers) -> str:
    return ",".join(f"{name}:{_text(value)}" for name, value in headers) or NULL


def _read(line: str) -> Read:
    timestamp, offset, headers_text, key, value = line.split(FIELD_END)
    headers: Headers = ()
    if headers_text != NO_HEADERS:
        pairs = (header.split(":", 1) for header in headers_text.split(","))
        headers = tuple((name, _bytes(text)) for name, text in pairs)
    record = Record(_bytes(key), _bytes(value), headers, int(timestamp.partition(":")[2]))
    return Read(int(offset.partition(":")[2]), record)
