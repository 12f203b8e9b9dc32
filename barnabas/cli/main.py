"""The `barnabas` command. Modules are imported by the subcommand that needs them, so that the command answers at once."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from barnabas.cli import cluster_arguments, completion
from barnabas.cli.command_error import CommandError
from barnabas.cli.command_parser import CommandParser, add_report_form, whole_number
from barnabas.cli.output import JSON, TABLE
from barnabas.kernel import standard_output
from barnabas.kernel.standard_output import OutputError

# As the shells count: a command line or a setting that makes no sense.
EXIT_USAGE = 2
EXIT_FAILURE = 1
EXIT_INTERRUPTED = 130

# Flags that are a short way to write --set.
_FLAG_SETTINGS = {
    "data_dir": "data.dir",
    "log_format": "log.format",
    "log_level": "log.level",
    "listeners": "listeners",
    "metrics_listener": "metrics.listener",
    "bootstrap_servers": "bootstrap.servers",
    "spark_master": "spark.master",
    "queries_file": "ksql.queries.file",
}
# What the programs that our services replace call their files of settings.
_PROPERTIES_FILES = {
    "broker": "Kafka's server.properties",
    "registry": "schema-registry.properties",
    "rest": "kafka-rest.properties",
    "connect": "connect-distributed.properties or connect-standalone.properties",
    "sql": "ksql-server.properties",
}


def main(words: Sequence[str] | None = None) -> int:
    given = sys.argv[1:] if words is None else list(words)
    standard_output.install()
    try:
        try:
            return _run_words(given)
        finally:
            standard_output.flush()
    except OutputError as error:
        standard_output.discard()
        if error.reader_gone:
            # As with `barnabas config | head`: the reader has what it wanted. A service that nobody hears was cut off.
            return EXIT_FAILURE if given[:1] == ["serve"] else 0
        return _fail(error, EXIT_FAILURE)


def _run_words(words: Sequence[str]) -> int:
    try:
        if words and words[0] in cluster_arguments.COMMANDS:
            return _run_against_cluster(words)
        return _run_here(words)
    except CommandError as error:
        return _fail(error, error.status)
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED


def _run_against_cluster(words: Sequence[str]) -> int:
    """Commands that need no settings of our own do not wait for them to load."""
    parser = CommandParser(prog="barnabas")
    cluster_arguments.add_commands(parser.add_subparsers(dest="command"))
    arguments = parser.parse_args(words)
    if arguments.command == "topics":
        from barnabas.cli import topics

        return topics.run(arguments)
    if arguments.command == "groups":
        from barnabas.cli import groups

        return groups.run(arguments)
    if arguments.command == "configs":
        from barnabas.cli import configs

        return configs.run(arguments)
    if arguments.command == "produce":
        from barnabas.cli import produce

        return produce.run(arguments)
    if arguments.command == "schemas":
        from barnabas.cli import schemas

        return schemas.run(arguments)
    if arguments.command == "connectors":
        from barnabas.cli import connectors

        return connectors.run(arguments)
    if arguments.command == "sql":
        from barnabas.cli import sql

        return sql.run(arguments)
    from barnabas.cli import consume

    return consume.run(arguments)


def _run_here(words: Sequence[str]) -> int:
    from barnabas.kernel.data_directory import DataDirectoryError
    from barnabas.kernel.setting_errors import SettingError

    parser = command_parser()
    arguments = parser.parse_args(words)
    if arguments.command is None:
        parser.print_help()
        return 0
    try:
        if arguments.command == "completion":
            return completion.run(arguments, parser)
        if arguments.command == "status":
            from barnabas.cli import status

            return status.run(arguments)
        if arguments.command == "demo":
            from barnabas.cli import demo

            return demo.run(arguments)
        if arguments.command == "apply":
            from barnabas.cli.apply import command

            return command.run(arguments)
        if arguments.command in ("backup", "restore"):
            from barnabas.cli import backup

            return backup.run(arguments)
        return _run(arguments)
    except SettingError as error:
        return _fail(error, EXIT_USAGE)
    except DataDirectoryError as error:
        return _fail(error, EXIT_FAILURE)


def _run(arguments: argparse.Namespace) -> int:
    from barnabas.services import SERVICES

    flags = _flags(arguments)
    if arguments.command == "up":
        from barnabas.cli import up

        return up.run(flags, arguments.config, up.Wish.of(arguments))
    if arguments.command == "doctor":
        from barnabas.cli import doctor

        return doctor.run(flags, arguments.config, arguments.output)
    if arguments.command == "serve":
        from barnabas.cli import serve

        return serve.run(SERVICES[arguments.service], flags, arguments.config, supervised=arguments.supervised)
    from barnabas.cli import config

    services = [SERVICES[arguments.service]] if arguments.service else list(SERVICES.values())
    return config.run(services, flags, arguments.config, docs=arguments.docs, form=arguments.output)


def _fail(error: Exception, status: int) -> int:
    print(f"barnabas: {error}", file=sys.stderr)
    return status


def _flags(arguments: argparse.Namespace) -> dict[str, str]:
    """Return the settings of the command line; what --set says wins over the short flags."""
    from barnabas.services import SERVICES

    given = vars(arguments)
    flags = {setting: given[flag] for flag, setting in _FLAG_SETTINGS.items() if given.get(flag) is not None}
    if arguments.command == "up":
        # These name no setting of one service: `up` tells each of them.
        for flag in ("bootstrap_servers", "spark_master"):
            flags.pop(_FLAG_SETTINGS[flag], None)
    elif given.get("schema_registry_url") is not None:
        # Services name it differently, as the programs do whose place they take.
        setting = SERVICES[arguments.service].registry_setting
        assert setting is not None, "only services that ask a registry have the flag"
        flags[setting] = given["schema_registry_url"]
    return {**flags, **dict(arguments.set)}


def command_parser() -> argparse.ArgumentParser:
    """Of every command, with those that `_run_against_cluster` parses alone."""
    from barnabas.services import SERVICES

    parser = CommandParser(prog="barnabas", description="A Kafka-compatible streaming platform.")
    parser.add_argument("--version", action=_Version)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    up = commands.add_parser(
        "up", help="start the whole platform", description="Start every service; Ctrl-C stops them."
    )
    _add_setting_flags(up, serves=True)
    up.add_argument("--listeners", metavar="LIST", help="the broker's listeners; port 0 is any free port")
    _add_metrics_flag(up)
    _add_platform_flags(up)
    _add_serve(commands)
    config = commands.add_parser(
        "config",
        help="print each setting and where its value comes from",
        description="Print the settings that would apply.",
    )
    config.add_argument("service", nargs="?", choices=list(SERVICES), help="one service; all of them when left out")
    config.add_argument("--docs", action="store_true", help="print what each setting means, too")
    _add_setting_flags(config)
    add_report_form(config)
    _add_status(commands)
    doctor = commands.add_parser(
        "doctor",
        help="find what would keep the platform from running well",
        description="Look at ports, disk, Java, packages, limits and the clock, and say how to mend what is wrong.",
    )
    _add_setting_flags(doctor)
    doctor.add_argument("--output", "-o", choices=(TABLE, JSON), default=TABLE, help="form of the output (table)")
    cluster_arguments.add_commands(commands)
    completion.add_command(commands)
    parser.usage = f"barnabas [-h] [--version] COMMAND ...\ncommands: {', '.join(commands.choices)}"
    return parser


def _add_serve(commands: cluster_arguments.Commands) -> None:
    from barnabas.services import BROKER, SERVICES, SQL

    serve = commands.add_parser("serve", help="start one service", description="Start one service in this process.")
    services = serve.add_subparsers(dest="service", metavar="SERVICE", required=True)
    for service in SERVICES.values():
        one = services.add_parser(service.name, help=service.summary, description=f"Start {service.summary}.")
        _add_setting_flags(one, _PROPERTIES_FILES.get(service.name), serves=True)
        one.add_argument("--listeners", metavar="LIST", help="where to listen; port 0 is any free port")
        if service is BROKER:
            _add_metrics_flag(one)
        else:
            one.add_argument("--bootstrap-servers", metavar="LIST", help="brokers of the cluster (127.0.0.1:9092)")
        if service.registry_setting is not None:
            default = "none" if service is SQL else "http://127.0.0.1:8081"
            one.add_argument("--schema-registry-url", metavar="LIST", help=f"the schema registry ({default})")
        if service is SQL:
            one.add_argument("--spark-master", metavar="URL", help="Spark's master (local, four tasks for each core)")
            one.add_argument("--queries-file", metavar="FILE", help="run the statements of a file, and no others")
        one.add_argument("--supervised", action="store_true", help=argparse.SUPPRESS)


def _add_setting_flags(parser: argparse.ArgumentParser, known_file: str | None = None, *, serves: bool = False) -> None:
    """What a command that `serves` puts out is its log, and the lines that say where it listens: one form for both."""
    from barnabas.kernel.logging import LOG_FORMATS, LOG_LEVELS

    parser.add_argument("--data-dir", metavar="FOLDER", help="folder of the data (barnabas-data)")
    example = f" (such as {known_file})" if known_file else ""
    parser.add_argument("--config", type=Path, metavar="FILE", help=f"properties file{example} or .toml file")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        type=_assignment,
        metavar="NAME=VALUE",
        help="set anything; may be repeated",
    )
    names = ("--log-format", "--output", "-o") if serves else ("--log-format",)
    parser.add_argument(*names, dest="log_format", choices=LOG_FORMATS, help="form of the log on standard error (text)")
    parser.add_argument("--log-level", choices=LOG_LEVELS, help="least severity that is logged (info)")


def _add_status(commands: cluster_arguments.Commands) -> None:
    from barnabas.cli.apply import arguments as apply_arguments
    from barnabas.cli.platform_places import add_demo_arguments, add_places

    apply_arguments.add_command(commands)
    status = commands.add_parser(
        "status",
        help="show the services, topics, groups, queries and connectors on one screen",
        description="Show how the platform is. It is found by its data directory, else at the usual ports.",
    )
    add_places(status)
    demo = commands.add_parser(
        "demo",
        help="a tour: schemas, connectors, REST and SQL on a running platform",
        description="Take a small shop from a database to results and back, each step as the command that a person would type.",
    )
    add_demo_arguments(demo)
    add_report_form(demo)
    status.add_argument("--watch", action="store_true", help="show it again every two seconds, until Ctrl-C")
    status.add_argument("--output", "-o", choices=(TABLE, JSON), default=TABLE, help="form of the output (table)")
    _add_backup(commands)


def _add_backup(commands: cluster_arguments.Commands) -> None:
    backup = commands.add_parser(
        "backup",
        help="copy the data directory, while the platform runs or not",
        description="Copy all that was acknowledged before to a new folder, consistent and with checksums.",
    )
    backup.add_argument("folder", type=Path, metavar="FOLDER", help="where the backup goes; new or empty")
    source = backup.add_mutually_exclusive_group()
    source.add_argument(
        "--data-dir", metavar="FOLDER", help="folder of the data (barnabas-data, else that of the platform that runs)"
    )
    source.add_argument(
        "--bootstrap-server", "-b", dest="broker", metavar="HOST:PORT", help="the broker of a platform on this machine"
    )
    add_report_form(backup)
    restore = commands.add_parser(
        "restore",
        help="make a data directory of a backup",
        description="Copy a backup to a new data directory, and check it on the way. Then: barnabas up --data-dir NEW.",
    )
    restore.add_argument("folder", type=Path, metavar="FOLDER", help="where the backup is")
    restore.add_argument("--data-dir", required=True, metavar="NEW", help="where the data goes; new or empty")
    add_report_form(restore)


def _add_platform_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--only", metavar="LIST", help="start these services alone, such as broker,registry")
    parser.add_argument("--without", metavar="LIST", help="leave these services out")
    parser.add_argument(
        "--ports-from", type=whole_number(1), metavar="PORT", help="listen at this port and the next four, in order"
    )
    parser.add_argument(
        "--bootstrap-servers", metavar="LIST", help="brokers of an Apache Kafka cluster, instead of a broker of ours"
    )
    parser.add_argument("--schema-registry-url", metavar="URL", help="a schema registry, instead of one of ours")
    parser.add_argument("--spark-master", metavar="URL", help="Spark's master (local, four tasks for each core)")


def _add_metrics_flag(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--metrics-listener", metavar="URL", help="where the broker tells its metrics, such as http://127.0.0.1:9404"
    )


def _assignment(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form name=value")
    return name.strip(), value


class _Version(argparse.Action):
    """Prints the version; it is looked up only when somebody asks."""

    def __init__(self, option_strings: Sequence[str], dest: str) -> None:
        super().__init__(option_strings, dest, nargs=0, help="print the version")

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        from importlib.metadata import version

        print(f"barnabas {version('barnabas')}")
        parser.exit()
