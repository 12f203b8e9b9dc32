"""`kafka-features`: which features a cluster has, and at which level."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Final

from barnabas.client.admin.session import Session, run
from barnabas.kafka_tools.shell.arguments import APPEND, STORE_TRUE, ArgumentError, ArgumentParser, Values
from barnabas.kafka_tools.shell.exits import FAILURE, SUCCESS, ToolError
from barnabas.kafka_tools.storage import feature_levels
from barnabas.kafka_tools.storage.feature_levels import METADATA_VERSION
from barnabas.kernel.java.kafka_exceptions import described, error_of, message_of
from barnabas.wire.errors import KafkaError

UPGRADE: Final = 1
SAFE_DOWNGRADE: Final = 2
UNSAFE_DOWNGRADE: Final = 3


def main(arguments: Sequence[str]) -> int:
    try:
        values = _parser().attempt(arguments)
    except ArgumentError as error:
        return _wrong(error.message)
    command = values.text("command")
    if command == "version-mapping":
        feature_levels.show_mapping(values.text("release_version"))
    elif command == "feature-dependencies":
        feature_levels.show_dependencies(values.texts("feature"))
    elif values.text("bootstrap_server") is None and values.text("bootstrap_controller") is None:
        return _wrong("You must specify either --bootstrap-controller or --bootstrap-server.")
    else:
        _ask(values, command or "")
    return SUCCESS


def _wrong(message: str) -> int:
    print(f"Command line error: {message}. Type --help for help.", end="", file=sys.stderr)
    return FAILURE


def _ask(values: Values, command: str) -> None:
    brokers, controllers = values.text("bootstrap_server"), values.text("bootstrap_controller")
    session = Session.open(
        brokers or controllers or "", values.text("command_config"), controllers=controllers is not None
    )
    if command == "describe":
        try:
            run(_describe(session, values.integer("node_id")))
        except KafkaError as error:
            raise ToolError(described(error)) from None
    else:
        run(_update(session, command, _updates(command, values), values))


async def _describe(session: Session, node: int | None) -> None:
    from barnabas.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse

    if node is not None and node < 0:
        raise ToolError(f"Invalid node id {node}: must be non-negative.")
    request = ApiVersionsRequest(client_software_name="barnabas-tools", client_software_version="1")
    async with session:
        answer = await session.send(request, ApiVersionsResponse, node=node, call="describeFeatures")
    if answer.error_code:
        raise error_of(answer.error_code, None)
    finalized = {feature.name: feature.max_version_level for feature in answer.finalized_features}
    epoch = str(answer.finalized_features_epoch) if answer.finalized_features_epoch >= 0 else "-"
    for feature in sorted(answer.supported_features, key=lambda found: found.name):
        name = feature.name
        low, high, level = (
            feature_levels.level_text(name, number)
            for number in (feature.min_version, feature.max_version, finalized.get(name, 0))
        )
        print(
            f"Feature: {name:<40}  SupportedMinVersion: {low:<15}  SupportedMaxVersion: {high:<15}"
            f"  FinalizedVersionLevel: {level:<15}  Epoch: {epoch}"
        )


def _updates(command: str, values: Values) -> dict[str, int]:
    """The level that each feature shall have."""
    features = values.texts("feature")
    if command == "disable":
        return _without_repetition([(name, 0) for name in features])
    release, metadata = values.text("release_version"), values.text("metadata")
    if release is not None and (metadata is not None or features):
        raise ToolError("Can not specify `release-version` with other feature flags.")
    if release is not None:
        level = feature_levels.level_of(release)
        defaults = feature_levels.defaults_of(level)
        kept = {name: default for name, default in defaults.items() if command != "upgrade" or default > 0}
        return {METADATA_VERSION: level, **kept}
    levels = []
    if metadata is not None:
        print(" `metadata` flag is deprecated and may be removed in a future release.")
        levels.append((METADATA_VERSION, feature_levels.level_of(metadata)))
    return _without_repetition(levels + [feature_levels.parse_level(text) for text in features])


def _without_repetition(levels: Sequence[tuple[str, int]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for name, level in levels:
        if name in found:
            raise ToolError(f"Feature {name} was specified more than once.")
        found[name] = level
    return found


async def _update(session: Session, command: str, updates: Mapping[str, int], values: Values) -> None:
    if not updates:
        raise ToolError(f"You must specify at least one feature to {command}")
    kind = UPGRADE if command == "upgrade" else UNSAFE_DOWNGRADE if values.is_set("unsafe") else SAFE_DOWNGRADE
    dry_run = values.is_set("dry_run")
    async with session:
        errors = await _send(session, updates, kind, dry_run=dry_run)
    failures = 0
    for name in sorted(updates):
        error = errors.get(name)
        level = updates[name]
        if error is None:
            done = "disabled." if command == "disable" else f"{command}d to {level}."
            print(f"{name} {'can be' if dry_run else 'was'} {done}")
        else:
            failures += 1
            wanted = f"disable {name}" if command == "disable" else f"{command} {name} to {level}"
            print(f"{'Can' if dry_run else 'Could'} not {wanted}. {message_of(error)}")
    if failures:
        raise ToolError(f"{failures} out of {len(updates)} operation(s) failed.")


async def _send(
    session: Session, updates: Mapping[str, int], kind: int, *, dry_run: bool
) -> dict[str, KafkaError | None]:
    from barnabas.wire.messages.update_features import (
        FeatureUpdateKey,
        UpdateFeaturesRequest,
        UpdateFeaturesResponse,
    )

    request = UpdateFeaturesRequest(
        timeout_ms=session.config.request_timeout_ms,
        feature_updates=[
            FeatureUpdateKey(feature=name, max_version_level=level, upgrade_type=kind)
            for name, level in updates.items()
        ],
        validate_only=dry_run,
    )
    try:
        answer = await session.send_to_controller(request, UpdateFeaturesResponse, check=lambda found: found.error_code)
    except KafkaError as error:
        return dict.fromkeys(updates, error)
    if answer.error_code:
        return dict.fromkeys(updates, error_of(answer.error_code, answer.error_message))
    return {
        result.feature: error_of(result.error_code, result.error_message) if result.error_code else None
        for result in answer.results
    }


def _parser() -> ArgumentParser:
    parser = ArgumentParser("kafka-features", "The features of a cluster, and their levels.")
    group = parser.group(exclusive=True)
    parser.add("--bootstrap-server", about="Brokers to begin with, as host:port.", group=group)
    parser.add("--bootstrap-controller", about="Controllers to begin with, as host:port.", group=group)
    parser.add("--command-config", about="File with properties of the client.")
    describe = parser.command("describe", "Print the features and their levels.")
    describe.add("--node-id", kind="Integer", about="The node to ask; any if it is left out.")
    upgrade = parser.command("upgrade", "Raise features.")
    downgrade = parser.command("downgrade", "Lower features.")
    for command, what in ((upgrade, "raise"), (downgrade, "lower")):
        command.add("--metadata", about=f"DEPRECATED -- The release to {what} metadata.version to, as 3.3-IV3.")
        command.add("--release-version", about=f"The release whose levels to {what} all features to, as 3.9-IV0.")
        command.add("--feature", action=APPEND, about=f"A feature to {what}, as `metadata.version=5`.")
        if command is downgrade:
            command.add("--unsafe", action=STORE_TRUE, about="Do it even if metadata may be lost.")
        command.add("--dry-run", action=STORE_TRUE, about="Only say whether it could be done.")
    disable = parser.command("disable", "Lower features to zero.")
    disable.add("--feature", action=APPEND, about="A feature to disable.")
    disable.add("--unsafe", action=STORE_TRUE, about="Do it even if metadata may be lost.")
    disable.add("--dry-run", action=STORE_TRUE, about="Only say whether it could be done.")
    mapping = parser.command("version-mapping", "Print the level that each feature has in a release.")
    mapping.add(
        "--release-version",
        about=f"The release, from {feature_levels.RELEASES[0]} on; {feature_levels.LATEST} if it is left out.",
    )
    dependencies = parser.command("feature-dependencies", "Print what features need.")
    dependencies.add("--feature", action=APPEND, required=True, about="A feature and level, as `metadata.version=5`.")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
