"""The table of commands: what each one is for, and the module that implements it.

A module has `add_arguments(parser)` and `run(arguments) -> int`, and is imported when its command is called. Where a mapping stands
instead of a module, it is the table of the words behind that one, such as `topics list`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

Commands = Mapping[str, "tuple[str, str | Commands]"]

TOPICS: Final[Commands] = {
    "list": ("list the topics", "barnabas.cli.topics.list"),
    "describe": ("show the partitions of a topic", "barnabas.cli.topics.describe"),
    "create": ("create a topic", "barnabas.cli.topics.create"),
    "delete": ("delete topics", "barnabas.cli.topics.delete"),
}
GROUPS: Final[Commands] = {
    "list": ("list the groups", "barnabas.cli.groups.list"),
    "describe": ("show offsets, lag and members of a group", "barnabas.cli.groups.describe"),
    "reset": ("move the offsets of a group", "barnabas.cli.groups.reset"),
    "delete": ("delete groups and their offsets", "barnabas.cli.groups.delete"),
}
CONFIGS: Final[Commands] = {
    "describe": ("show what is set", "barnabas.cli.configs.describe"),
    "set": ("set configurations", "barnabas.cli.configs.set"),
    "unset": ("return to the defaults", "barnabas.cli.configs.unset"),
}
SCHEMAS: Final[Commands] = {
    "list": ("list the subjects", "barnabas.cli.schemas.list"),
    "show": ("show a schema", "barnabas.cli.schemas.show"),
    "diff": ("compare two schemas", "barnabas.cli.schemas.diff"),
    "check": (
        "show whether a schema is compatible, and if not, why and what would help",
        "barnabas.cli.schemas.check",
    ),
    "register": ("register a schema", "barnabas.cli.schemas.register"),
    "delete": ("delete a version, or a subject with all versions", "barnabas.cli.schemas.delete"),
    "compat": ("show, set or unset the compatibility level", "barnabas.cli.schemas.compat"),
    "export": (
        "write the whole registry to a file, with ids, versions, settings and modes",
        "barnabas.cli.schemas.export",
    ),
    "import": ("bring an exported registry back", "barnabas.cli.schemas.restore"),
}
CONNECTORS: Final[Commands] = {
    "list": ("list connectors with state, rate, lag and last error", "barnabas.cli.connectors.list"),
    "show": ("show a connector: its settings, its tasks, and their errors in full", "barnabas.cli.connectors.show"),
    "plugins": (
        "list what connectors, converters and transforms there are, or the settings of one",
        "barnabas.cli.connectors.plugins",
    ),
    "create": ("create a connector; it must not exist", "barnabas.cli.connectors.create"),
    "apply": (
        "create or change connectors as files say; what is so already stays untouched",
        "barnabas.cli.connectors.apply",
    ),
    "validate": ("report everything that is wrong with a connector's settings", "barnabas.cli.connectors.validate"),
    "pause": ("let a connector rest; its tasks stay", "barnabas.cli.connectors.target_state"),
    "resume": ("let a paused or stopped connector go on", "barnabas.cli.connectors.target_state"),
    "stop": (
        "end a connector's tasks; it stays, and its offsets can be changed",
        "barnabas.cli.connectors.target_state",
    ),
    "restart": ("restart a connector and its tasks", "barnabas.cli.connectors.restart"),
    "delete": ("delete a connector; its offsets stay", "barnabas.cli.connectors.delete"),
    "offsets": ("show, set or forget how far a connector has come", "barnabas.cli.connectors.offsets"),
    "dlq": (
        (
            "look at the dead letters of a connector, or send them to their topics again; replay remembers how far it "
            "came and sends new letters alone"
        ),
        "barnabas.cli.connectors.dead_letters",
    ),
}
COMMANDS: Final[Commands] = {
    "up": ("start the whole platform", "barnabas.cli.platform.up"),
    "serve": ("start one service", "barnabas.cli.platform.serve"),
    "config": ("print each setting and where its value comes from", "barnabas.cli.platform.config"),
    "apply": ("make topics, schemas, connectors and SQL what a file says", "barnabas.cli.apply.command"),
    "status": (
        "show the services, topics, groups, queries and connectors on one screen",
        "barnabas.cli.status.command",
    ),
    "demo": ("a tour: schemas, connectors, REST and SQL on a running platform", "barnabas.cli.demo.command"),
    "backup": ("copy the data directory, while the platform runs or not", "barnabas.cli.platform.backup"),
    "restore": ("make a data directory of a backup", "barnabas.cli.platform.restore"),
    "doctor": ("find what would keep the platform from running well", "barnabas.cli.platform.doctor"),
    "topics": ("list, describe, create and delete topics", TOPICS),
    "produce": ("write records", "barnabas.cli.records.produce"),
    "consume": ("read records", "barnabas.cli.records.consume"),
    "groups": ("list, describe, reset and delete consumer groups", GROUPS),
    "configs": ("describe and change configurations", CONFIGS),
    "schemas": ("list, compare, check, register and back up schemas", SCHEMAS),
    "connectors": ("list, create, watch, repair and delete connectors", CONNECTORS),
    "sql": ("run SQL over topics: statements, queries, a prompt, tests", "barnabas.cli.sql.command"),
    "completion": ("print a script for Tab in your shell", "barnabas.cli.completion"),
}
