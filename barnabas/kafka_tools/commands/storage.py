"""`kafka-storage`: ids for clusters, and directories in which a node can start."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

from barnabas.kafka_tools.shell.arguments import APPEND, STORE_TRUE, ArgumentParser, Values
from barnabas.kafka_tools.shell.exits import FAILURE, SUCCESS, ToolError
from barnabas.kafka_tools.storage import feature_levels


def main(arguments: Sequence[str]) -> int:
    values = _parser().parse(arguments)
    command = values.text("command")
    if command == "info":
        return _show_info(values.text("config") or "")
    if command == "format":
        _format(values)
    elif command == "version-mapping":
        feature_levels.show_mapping(values.text("release_version"))
    elif command == "feature-dependencies":
        for text in values.texts("feature"):
            _check_feature(text)
            feature_levels.show_dependencies([text])
    else:
        from barnabas.kafka_tools.storage.storage_format import random_uuid

        print(random_uuid())
    return SUCCESS


def _format(values: Values) -> None:
    from barnabas.kafka_tools.storage import scram_records, server_file, storage_format

    server = server_file.read(values.text("config") or "")
    order = storage_format.Order(
        cluster_id=values.text("cluster_id") or "",
        release=values.text("release_version"),
        features=values.texts("feature"),
        scram=[scram_records.parse(text) for text in values.texts("add_scram")],
        standalone=values.is_set("standalone"),
        initial_controllers=values.text("initial_controllers"),
        no_initial_controllers=values.is_set("no_initial_controllers"),
        ignore_formatted=values.is_set("ignore_formatted"),
    )
    storage_format.run(server, order)


def _check_feature(text: str) -> None:
    """This tool has other words than kafka-features for the same mistakes."""
    name, equals, level = text.partition("=")
    if not equals:
        raise ToolError(f"Invalid feature format: {text}. Expected format: 'feature=version' (e.g. 'group.version=1')")
    if not re.fullmatch(r"[+-]?\d+", level):
        raise ToolError(f"Invalid version format: {level} for feature {name}")
    known = feature_levels.DEFAULTS.get(name)
    if known is not None and not 0 <= int(level) <= known[1]:
        raise ToolError(f"Feature level {level} is not supported for feature {name}")


def _show_info(config: str) -> int:
    from barnabas.kafka_tools.storage import server_file
    from core_broker.log.meta_properties import FILE_NAME, MetaProperties

    server = server_file.read(config)
    problems: list[str] = []
    found: list[str] = []
    known: MetaProperties | None = None
    for folder in server.folders:
        path = Path(folder)
        if not path.is_dir():
            problems.append(f"{path} is not a directory" if path.exists() else f"{path} does not exist")
            continue
        found.append(str(path))
        if not (path / FILE_NAME).exists():
            problems.append(f"{path} is not formatted.")
            continue
        try:
            meta = MetaProperties.parse((path / FILE_NAME).read_bytes())
        except (OSError, ValueError) as error:
            problems.append(f"Error loading {path / FILE_NAME}: {error}")
            continue
        if known is not None and meta.cluster_id != known.cluster_id:
            problems.append("Mismatched cluster IDs between storage directories.")
        elif known is not None and meta.node_id != known.node_id:
            problems.append("Mismatched node IDs between storage directories.")
        known = known or meta
    if found:
        _show_list("Found log directory:" if len(found) == 1 else "Found log directories:", found)
    if known is not None:
        values = f"cluster.id={known.cluster_id}, directory.id={known.directory_id}, node.id={known.node_id}, version=1"
        print(f"Found metadata: {{{values}}}\n")
    if problems:
        _show_list("Found problem:" if len(problems) == 1 else "Found problems:", problems)
    return FAILURE if problems else SUCCESS


def _show_list(title: str, lines: Sequence[str]) -> None:
    print(title)
    for line in lines:
        print(f"  {line}")
    print()


def _parser() -> ArgumentParser:
    parser = ArgumentParser("kafka-storage", "The directories of a Kafka node.")
    info = parser.command("info", "Print what lies in the log directories of this node.")
    formatting = parser.command("format", "Prepare the log directories of this node.")
    for command in (info, formatting):
        command.add("--config", "-c", required=True, about="The configuration file of the node.")
    _add_format_options(formatting)
    mapping = parser.command("version-mapping", "Print the level that each feature has in a release.")
    mapping.add(
        "--release-version",
        "-r",
        about=f"The release, from {feature_levels.RELEASES[0]} on; {feature_levels.LATEST} if it is left out.",
    )
    dependencies = parser.command("feature-dependencies", "Print what features need.")
    dependencies.add(
        "--feature", "-f", action=APPEND, required=True, about="A feature and level, as `metadata.version=5`."
    )
    parser.command("random-uuid", "Print an id for a new cluster.")
    return parser


def _add_format_options(formatting: ArgumentParser) -> None:
    formatting.add("--cluster-id", "-t", required=True, about="The id of the cluster; random-uuid makes one.")
    formatting.add(
        "--add-scram",
        "-S",
        action=APPEND,
        about="A credential that the cluster begins with, e.g.\n"
        "'SCRAM-SHA-256=[name=alice,password=alice-secret]'\n"
        '\'SCRAM-SHA-512=[name=alice,iterations=8192,salt="N3E=",saltedpassword="YCE="]\'',
    )
    formatting.add("--ignore-formatted", "-g", action=STORE_TRUE, about="Leave formatted directories as they are.")
    formatting.add(
        "--release-version",
        "-r",
        about=f"The release whose features the cluster begins with, from {feature_levels.RELEASES[0]} on; "
        f"{feature_levels.LATEST} if it is left out.",
    )
    formatting.add("--feature", "-f", action=APPEND, about="The level of a feature, as `kraft.version=1`.")
    quorum = formatting.group(exclusive=True)
    formatting.add(
        "--standalone", "-s", action=STORE_TRUE, group=quorum, about="This controller alone is a dynamic quorum."
    )
    formatting.add(
        "--no-initial-controllers",
        "-N",
        action=STORE_TRUE,
        group=quorum,
        about="This node will find a dynamic quorum later.",
    )
    formatting.add(
        "--initial-controllers",
        "-I",
        group=quorum,
        about="The controllers of a dynamic quorum, as id@hostname:port:directory with commas; the same on all nodes.",
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
