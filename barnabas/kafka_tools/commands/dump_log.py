"""kafka-dump-log: what the files of a log hold."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import Final

from barnabas.kafka_tools.dump import coordinator_records, dumped_index
from barnabas.kafka_tools.dump.coordinator_records import GROUP_METADATA_TYPE, UnknownRecordTypeError, Vocabulary
from barnabas.kafka_tools.dump.dumped_index import IndexDump
from barnabas.kafka_tools.dump.dumped_log import UNLIMITED_BYTES, Contents, LogDump, Parser
from barnabas.kafka_tools.dump.message_json import Node, text_of
from barnabas.kafka_tools.shell.exits import SUCCESS, ToolError
from barnabas.kafka_tools.shell.options import OptionError, OptionParser, Parsed
from barnabas.kernel.java.text import computed_map_order, file_path
from barnabas.wire.batch import Record
from barnabas.wire.wire_error import WireError

PURPOSE: Final = (
    "This tool helps to parse a log file and dump its contents to the console, useful for debugging a seemingly corrupt log "
    "segment."
)
DELETED: Final = "<DELETE>"
MAX_MESSAGE_BYTES: Final = 5 * 1024 * 1024
STRING_DECODER: Final = "org.apache.kafka.tools.api.StringDecoder"
_DECODERS_THAT_PRINT: Final = (
    "print-data-log",
    "offsets-decoder",
    "transaction-log-decoder",
    "cluster-metadata-decoder",
    "remote-log-metadata-decoder",
    "value-decoder-class",
    "key-decoder-class",
    "share-group-state-decoder",
)
_INTEGER_BYTES: Final = {"IntegerDecoder": 4, "LongDecoder": 8}


def main(arguments: Sequence[str]) -> int:
    parsed = options().parse_or_fail(arguments)
    parsed.show_help_or_version(PURPOSE)
    parsed.require("files")
    try:
        files = _split_files(parsed.text("files"))
        log = LogDump(
            out=sys.stdout,
            deep=parsed.has("deep-iteration") or _prints(parsed),
            contents=_prints(parsed),
            record_metadata=not parsed.has("skip-record-metadata"),
            parser=record_parser(parsed),
            max_bytes=_integer(parsed, "max-bytes", UNLIMITED_BYTES),
        )
        index = IndexDump(
            out=sys.stdout,
            sanity_only=parsed.has("index-sanity-check"),
            verify_only=parsed.has("verify-index-only"),
            max_message_bytes=_integer(parsed, "max-message-size", MAX_MESSAGE_BYTES),
        )
    except OptionError as error:
        raise ToolError(str(error)) from None
    for name in files:
        sys.stdout.write(f"Dumping {name}\n")
        _dump(name, log, index)
    sys.stdout.flush()
    index.report(sys.stderr)
    for name in computed_map_order(log.gaps):
        sys.stderr.write(f"Non-consecutive offsets in {name}\n")
        for first, second in sorted(log.gaps[name].items()):
            sys.stderr.write(f"  {first} is followed by {second}\n")
    return SUCCESS


def options() -> OptionParser:
    parser = OptionParser()
    parser.flag("print-data-log", "Print what the records hold. Every decoder option implies it.")
    parser.flag("verify-index-only", "Check an index against its log and print only what does not agree.")
    parser.flag("index-sanity-check", "Check an index only as a broker does when it starts.")
    parser.takes("files", "REQUIRED: The files of logs to dump, separated by commas.", "file1, file2, ...")
    parser.takes(
        "max-message-size", "Size of the largest batch, in bytes.", "size", kind="Integer", default=MAX_MESSAGE_BYTES
    )
    parser.takes(
        "max-bytes", "Read no more than so many bytes of a log.", "size", kind="Integer", default=UNLIMITED_BYTES
    )
    parser.flag("deep-iteration", "Look into the batches. Printing the records implies it.")
    for part in ("value", "key"):
        parser.takes(
            f"{part}-decoder-class",
            f"How to print {part}s: StringDecoder, IntegerDecoder, LongDecoder or DefaultDecoder of org.apache.kafka.tools.api.",
            default=STRING_DECODER,
            optional=True,
        )
    parser.flag("offsets-decoder", "The log is one of the topic __consumer_offsets.")
    parser.flag("transaction-log-decoder", "The log is one of the topic __transaction_state.")
    parser.flag("cluster-metadata-decoder", "The log holds the metadata of a cluster.")
    parser.flag("remote-log-metadata-decoder", "The log holds metadata of tiered storage.")
    parser.flag("share-group-state-decoder", "The log is one of the topic __share_group_state.")
    parser.flag("skip-record-metadata", "Print of records only what they hold; of control records, nothing.")
    return parser


def record_parser(parsed: Parsed) -> Parser:
    """What makes text of a record's key and value."""
    if parsed.has("offsets-decoder"):
        return _coordinator_parser(coordinator_records.group_vocabulary())
    if parsed.has("transaction-log-decoder"):
        return _coordinator_parser(coordinator_records.transaction_vocabulary())
    if parsed.has("cluster-metadata-decoder"):
        return parse_metadata
    if parsed.has("remote-log-metadata-decoder"):
        raise ToolError("--remote-log-metadata-decoder is not supported: this tool knows no tiered storage")
    if parsed.has("share-group-state-decoder"):
        return _coordinator_parser(coordinator_records.share_state_vocabulary())
    key_decoder, value_decoder = (
        _decoder(parsed.text("key-decoder-class")),
        _decoder(parsed.text("value-decoder-class")),
    )
    return lambda record: Contents(
        None if record.key is None else key_decoder(record.key),
        None if record.value is None else value_decoder(record.value),
    )


def parse_metadata(record: Record) -> Contents:
    try:
        return Contents(None, text_of(coordinator_records.metadata_record(record.value or b"")))
    except WireError as error:
        return Contents(None, f"Error at {record.offset}, skipping. {error}")


def _coordinator_parser(vocabulary: Vocabulary) -> Parser:
    def parse(record: Record) -> Contents:
        if record.key is None:
            raise ToolError(
                f"Failed to decode message at offset {record.offset} using the specified decoder (message had a missing key)"
            )
        try:
            decoded = coordinator_records.decode_record(vocabulary, record.key, record.value)
        except UnknownRecordTypeError as error:
            return Contents(f"Unknown record type {error.record_type} at offset {record.offset}, skipping.", None)
        except WireError as error:
            return Contents(f"Error at offset {record.offset}, skipping. {error}", None)
        key = text_of(Node(type=str(decoded.record_type), data=decoded.key))
        if decoded.value is None:
            return Contents(key, DELETED)
        if decoded.record_type == GROUP_METADATA_TYPE:
            coordinator_records.open_members(decoded.value)
        return Contents(key, text_of(Node(version=str(decoded.version), data=decoded.value)))

    return parse


def _decoder(name: str) -> Callable[[bytes], str]:
    short = name.removeprefix("org.apache.kafka.tools.api.")
    if short == "StringDecoder":
        return lambda data: data.decode("utf-8", "replace")
    if short == "DefaultDecoder":
        return bytes.hex
    if short in _INTEGER_BYTES:
        size = _INTEGER_BYTES[short]
        return lambda data: str(int.from_bytes(data[:size], "big", signed=True)) if len(data) >= size else "<too short>"
    raise ToolError(
        f"{name}: no such decoder. This tool knows StringDecoder, IntegerDecoder, LongDecoder and DefaultDecoder."
    )


def _dump(name: str, log: LogDump, index: IndexDump) -> None:
    suffix = os.path.splitext(os.path.basename(name))[1]
    if suffix in (".log", ".checkpoint"):
        log.dump(name)
    elif suffix == ".index":
        index.dump_offsets(name)
    elif suffix == ".timeindex":
        index.dump_times(name)
    elif suffix == ".snapshot":
        dumped_index.dump_producers(name, sys.stdout, sys.stderr)
    elif suffix == ".txnindex":
        dumped_index.dump_transactions(name, sys.stdout)
    else:
        sys.stderr.write(f"Ignoring unknown file {name}\n")


def _split_files(text: str) -> list[str]:
    """As Java's split: empty names at the end do not count."""
    return [file_path(name) for name in text.rstrip(",").split(",")]


def _prints(parsed: Parsed) -> bool:
    return any(parsed.has(name) for name in _DECODERS_THAT_PRINT)


def _integer(parsed: Parsed, name: str, default: int) -> int:
    found = parsed.integer(name)
    return default if found is None else found
