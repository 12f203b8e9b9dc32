"""`kafka-configs`: the configurations of topics, brokers, users, clients, addresses, groups and client metrics."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import Final

from barnabas.client.admin.session import Session, run
from barnabas.client.client_config import load_properties
from barnabas.kafka_tools.shell.exits import FAILURE, SUCCESS, ToolError
from barnabas.kafka_tools.shell.options import OptionError, OptionParser, Parsed
from barnabas.kernel.java.kafka_exceptions import described
from barnabas.wire.errors import KafkaError

PURPOSE: Final = (
    "This tool helps to manipulate and describe entity config for a topic, client, user, broker, ip, "
    "client-metrics or group"
)
TOPICS: Final = "topics"
BROKERS: Final = "brokers"
LOGGERS: Final = "broker-loggers"
USERS: Final = "users"
CLIENTS: Final = "clients"
IPS: Final = "ips"
METRICS: Final = "client-metrics"
GROUPS: Final = "groups"
# In the order in which the tool tells them.
ENTITY_TYPES: Final = (TOPICS, CLIENTS, USERS, BROKERS, IPS, METRICS, GROUPS, LOGGERS)
NAMED_FLAGS: Final = {
    "topic": TOPICS,
    "client": CLIENTS,
    "user": USERS,
    "broker": BROKERS,
    "broker-logger": LOGGERS,
    "ip": IPS,
    "client-metrics": METRICS,
    "group": GROUPS,
}
DEFAULT_FLAGS: Final = {
    "client-defaults": CLIENTS,
    "user-defaults": USERS,
    "broker-defaults": BROKERS,
    "ip-defaults": IPS,
}
WITH_DEFAULTS: Final = (USERS, CLIENTS, BROKERS, IPS)

# A comma or an equals sign that does not stand between brackets.
_OUTSIDE: Final = r"(?=[^\]]*(?:\[|$))"


class Entities:
    """What the command line is about: types, and a name for each; an empty name is the default of its type."""

    def __init__(self, parsed: Parsed) -> None:
        flags = [(flag, kind) for flag, kind in (NAMED_FLAGS | DEFAULT_FLAGS).items() if parsed.has(flag)]
        self.types = parsed.values("entity-type") + [kind for _, kind in flags]
        named = iter(parsed.values("entity-name"))
        order = [name for name in parsed.sequence if name in ("entity-name", "entity-default")]
        self.names = [next(named) if name == "entity-name" else "" for name in order]
        self.names += [parsed.text(flag) if flag in NAMED_FLAGS else "" for flag, _ in flags]

    @property
    def has_name(self) -> bool:
        return any(self.names)

    @property
    def has_default(self) -> bool:
        return "" in self.names


def main(arguments: Sequence[str]) -> int:
    try:
        parsed = _parser().parse(arguments)
        parsed.show_help_or_version(PURPOSE)
        entities = Entities(parsed)
        _check(parsed, entities)
        controllers = parsed.value("bootstrap-controller")
        session = Session.open(
            parsed.value("bootstrap-server") or controllers or "",
            parsed.value("command-config"),
            controllers=controllers is not None,
        )
        if parsed.has("alter") and len(entities.types) != len(entities.names):
            raise ToolError("An entity name must be specified for every entity type")
        run(_execute(session, parsed, entities))
    except OptionError as error:
        raise ToolError(str(error)) from None
    except KafkaError as error:
        print(f"Error while executing config command with args '{' '.join(arguments)}'", file=sys.stderr)
        print(described(error), file=sys.stderr)
        return FAILURE
    return SUCCESS


async def _execute(session: Session, parsed: Parsed, entities: Entities) -> None:
    async with session:
        if parsed.has("alter"):
            await _alter(session, entities, _to_add(parsed), _to_delete(parsed))
        else:
            await _describe(session, entities, everything=parsed.has("all"))


async def _describe(session: Session, entities: Entities, *, everything: bool) -> None:
    kind = entities.types[0]
    if kind in (USERS, CLIENTS, IPS):
        from barnabas.kafka_tools.configs import client_quotas, scram_credentials

        await client_quotas.show(session, entities.types, entities.names)
        if kind == USERS and CLIENTS not in entities.types and not entities.has_default:
            await scram_credentials.show(session, entities.names)
        return
    from barnabas.kafka_tools.configs import resource_configs

    await resource_configs.show(session, kind, entities.names[0] if entities.names else None, everything=everything)


async def _alter(session: Session, entities: Entities, add: dict[str, str], delete: list[str]) -> None:
    kind, name = entities.types[0], entities.names[0]
    if kind in (USERS, CLIENTS, IPS):
        from barnabas.kafka_tools.configs import client_quotas, scram_credentials

        if kind == IPS:
            client_quotas.check_address_quotas(add, delete)
            await client_quotas.alter(session, entities.types, entities.names, add, delete)
        elif client_quotas.check(entities.types, entities.names, add, delete):
            await client_quotas.alter(session, entities.types, entities.names, add, delete)
        else:
            await scram_credentials.alter(session, name, add, delete)
    else:
        from barnabas.client.admin import config_resources

        await config_resources.alter(session, kind, name, add, delete)
    if name:
        print(f"Completed updating config for {kind[:-1]} {name}.")
    else:
        print(f"Completed updating default config for {kind} in the cluster.")


def _to_add(parsed: Parsed) -> dict[str, str]:
    """`k1=v1,k2=[v1,v2]`, or a file of properties."""
    added = dict(load_properties(parsed.value("add-config-file"), "--add-config-file"))
    text = parsed.value("add-config")
    if text is not None:
        pairs = [re.split(rf"\s*={_OUTSIDE}", part) for part in re.split(f",{_OUTSIDE}", text)]
        if not all(len(pair) == 2 for pair in pairs):
            raise ToolError(
                'requirement failed: Invalid entity config: all configs to be added must be in the format "key=val" '
                'or  "key=[val1,val2]" to group values which contain commas.'
            )
        added |= {name.strip(): re.sub(r"\[?\]?", "", value).strip() for name, value in pairs}
    for name in added:
        if not re.fullmatch(r"[$a-zA-Z0-9._-]*", name):
            raise ToolError(f"Invalid character found for config key: {name}")
    return added


def _to_delete(parsed: Parsed) -> list[str]:
    return [name.strip() for name in parsed.values("delete-config")]


def _check(parsed: Parsed, entities: Entities) -> None:
    if parsed.has("alter") == parsed.has("describe"):
        parsed.fail("Command must include exactly one action: --describe, --alter")
    parsed.forbid("describe", "add-config", "delete-config")
    types = entities.types
    repeated = [kind for position, kind in enumerate(types) if kind in types[:position]]
    if repeated:
        raise ToolError(f"Duplicate entity type(s) specified: {','.join(repeated)}")
    for kind in types:
        if kind not in ENTITY_TYPES:
            raise ToolError(
                f"Invalid entity type {kind}, the entity type must be one of {', '.join(ENTITY_TYPES)} "
                "with a --bootstrap-server or --bootstrap-controller argument"
            )
    if not types:
        raise ToolError("At least one entity type must be specified")
    if len(types) > 1 and set(types) != {USERS, CLIENTS}:
        raise ToolError(f"Only '{USERS}' and '{CLIENTS}' entity types may be specified together")
    flags = any(parsed.has(flag) for flag in NAMED_FLAGS | DEFAULT_FLAGS)
    if flags and any(parsed.has(option) for option in ("entity-name", "entity-type", "entity-default")):
        raise ToolError("--entity-{type,name,default} should not be used in conjunction with specific entity flags")
    if not parsed.has("bootstrap-server") and not parsed.has("bootstrap-controller"):
        raise ToolError("Either --bootstrap-server or --bootstrap-controller must be specified.")
    if parsed.has("bootstrap-server") and parsed.has("bootstrap-controller"):
        raise ToolError("Only one of --bootstrap-server or --bootstrap-controller can be specified")
    _check_names(entities)
    if parsed.has("describe"):
        _check_describe(parsed, entities)
    else:
        _check_alter(parsed, entities)


def _check_names(entities: Entities) -> None:
    kind = entities.types[0]
    for name in entities.names:
        if name and kind in (BROKERS, LOGGERS) and not re.fullmatch(r"[+-]?\d+", name):
            raise ToolError(f"The entity name for {kind} must be a valid integer broker id, but it is: {name}")
        if name and IPS in entities.types and not _is_address(name):
            raise ToolError(f"The entity name for {kind} must be a valid IP or resolvable host, but it is: {name}")


def _is_address(name: str) -> bool:
    import socket

    try:
        socket.getaddrinfo(name, None)
    except OSError:
        return False
    return True


def _check_describe(parsed: Parsed, entities: Entities) -> None:
    shown = ",".join(entities.types)
    if parsed.has("entity-default") and not any(kind in entities.types for kind in WITH_DEFAULTS):
        raise ToolError(f"--entity-default must not be specified with --describe of {shown}")
    if LOGGERS in entities.types and not entities.has_name:
        raise ToolError(f"An entity name must be specified with --describe of {shown}")


def _check_alter(parsed: Parsed, entities: Entities) -> None:
    if any(kind in entities.types for kind in WITH_DEFAULTS):
        if not entities.names:
            raise ToolError(
                "An entity-name or default entity must be specified with --alter of users, clients, brokers or ips"
            )
    elif not entities.has_name:
        raise ToolError(f"An entity name must be specified with --alter of {','.join(entities.types)}")
    given = [parsed.has(option) for option in ("add-config", "add-config-file", "delete-config")]
    if given[0] and given[1]:
        raise ToolError("Only one of --add-config or --add-config-file must be specified")
    if not any(given):
        raise ToolError(
            "At least one of --add-config, --add-config-file, or --delete-config must be specified with --alter"
        )


def _parser() -> OptionParser:
    parser = OptionParser()
    parser.takes("bootstrap-server", "The brokers to begin with.", "server to connect to")
    parser.takes("bootstrap-controller", "The controllers to begin with.", "controller to connect to")
    parser.takes("command-config", "File with properties of the client.", "command config property file")
    parser.flag("alter", "Change configurations.")
    parser.flag("describe", "Print configurations.")
    parser.flag("all", "Print all configurations, not only those that were set.")
    parser.takes("entity-type", f"What it is about: {'/'.join(ENTITY_TYPES)}.")
    parser.takes(
        "entity-name", "Which one: the name of a topic, group or metric, a client id, user, broker or address."
    )
    parser.flag("entity-default", "The default of clients, users, brokers or ips instead of one of them.")
    parser.takes("add-config", _config_help)
    parser.takes("add-config-file", "File with properties to set.")
    parser.takes("delete-config", "Configurations to take back, as 'k1,k2'.", separator=",")
    parser.takes("topic", "A topic.")
    parser.takes("client", "A client id.")
    parser.flag("client-defaults", "The default of all clients.")
    parser.takes("user", "A user.")
    parser.flag("user-defaults", "The default of all users.")
    parser.takes("broker", "A broker, by its number.")
    parser.flag("broker-defaults", "The default of all brokers.")
    parser.takes("broker-logger", "The loggers of a broker, by its number.")
    parser.flag("ip-defaults", "The default of all addresses.")
    parser.takes("ip", "An IP address.")
    parser.takes("group", "A group.")
    parser.takes("client-metrics", "A subscription of client metrics.")
    return parser


def _config_help() -> str:
    from barnabas.kafka_tools.configs.config_names import names_of_types

    parts = ["What to set, as 'k1=v1,k2=[v1,v2,v2],k3=v3': brackets keep commas together."]
    for kind, names in names_of_types().items():
        parts += [f"For entity-type '{kind}':", *(f"\t{name}" for name in names)]
    parts.append("'users' and 'clients' together mean the clients of a user.")
    return "\n".join(parts)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
