"""The command lines of the tools for groups and transactions on which ours and Kafka's are compared.

Groups come into being by resetting offsets: none of them has members. What members and transactions look like is compared
on the same broker at the same time, in `test_group_tools`.
"""

from __future__ import annotations

from collections.abc import Iterable

from tests.kafka_tools.scenario import Scenario

PLANS = {
    "one.csv": "orders,0,3\norders,1,9999\n",
    "several.csv": 'alpha,orders,0,3\n"beta",orders,1,7\n',
    "whole.csv": "orders,0,3\norders,1,9999\norders,2,-4\n",
    "word.csv": "nowhere\n",
    "number.csv": "orders,x,3\n",
    "blank.csv": "\n",
    "empty.csv": "",
    "client.properties": "default.api.timeout.ms=20000\nrequest.timeout.ms=10000\n",
}

_TOPICS = (
    "kafka-topics --bootstrap-server {broker} --create --topic orders --partitions 3",
    "kafka-topics --bootstrap-server {broker} --create --topic payments --partitions 2",
    "produce orders 0 10",
    "produce orders 1 20",
    "produce orders 2 5",
    "produce payments 0 8",
)


def _lines(tool: str, texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"{tool} --bootstrap-server {{broker}} {text}".rstrip() for text in texts)


GROUPS = Scenario(
    "consumer-groups",
    (
        *_TOPICS,
        "kafka-consumer-groups",
        "kafka-consumer-groups --help",
        "kafka-consumer-groups --list",
        *(
            f"kafka-consumer-groups --validate-regex '{pattern}'"
            for pattern in (".*", "(foo", "a(?=b)", "[z-a]", "*a", "a**", "a{1001}", "\\", "[a", "(?P<n-x>a)", "a)")
        ),
        *_lines(
            "kafka-consumer-groups",
            (
                "",
                "--list",
                "--list --state",
                "--list --type share",
                "--list --state sleepy",
                "--list --group x",
                "--list --topic x",
                "--list --members",
                "--list --bogus",
                "--list --describe --group x",
                "--describe",
                "--describe --group a --all-groups",
                "--describe --group a --members --offsets",
                "--describe --group a --state x",
                "--describe --group a --topic x",
                "--describe --group nobody",
                "--describe --group nobody --timeout x",
                "--validate-regex .* --list",
                "--reset-offsets --group alpha --topic orders --to-offset 4 --execute",
                "--reset-offsets --group alpha --topic payments:0 --to-latest --execute",
                "--reset-offsets --group beta --topic orders:2,1 --to-earliest --execute",
                "--list --state --type",
                "--list --state empty",
                "--list --type consumer",
                "--describe --group alpha",
                "--describe --group alpha --verbose",
                "--describe --group alpha --members --verbose",
                "--describe --group alpha --group beta --state",
                "--describe --all-groups --offsets",
                "--describe --group alpha --group nobody",
                "--reset-offsets --group alpha --to-earliest",
                "--reset-offsets --to-earliest --all-topics",
                "--reset-offsets --group alpha --to-earliest --all-topics --dry-run --execute",
                "--reset-offsets --group alpha --to-earliest --to-latest --all-topics",
                "--reset-offsets --group alpha --all-topics --dry-run",
                "--reset-offsets --group alpha --to-earliest --all-topics --dry-run",
                "--reset-offsets --group alpha --to-latest --all-topics",
                "--reset-offsets --group alpha --to-offset 1000 --topic orders --dry-run",
                "--reset-offsets --group alpha --to-offset -1 --topic orders:0,1 --topic payments:1 --dry-run",
                "--reset-offsets --group alpha --to-current --topic orders --topic payments --dry-run",
                "--reset-offsets --group alpha --shift-by -5 --topic orders --dry-run",
                "--reset-offsets --group alpha --shift-by 2 --all-topics --dry-run",
                "--reset-offsets --group alpha --shift-by 2 --topic payments:1 --dry-run",
                "--reset-offsets --group alpha --shift-by x --topic orders --dry-run",
                "--reset-offsets --group alpha --to-datetime 2030-03-17T17:46:45.000 --topic orders --dry-run",
                "--reset-offsets --group alpha --to-datetime 2030-03-17T18:46:45.000+01:00 --topic orders --dry-run",
                "--reset-offsets --group alpha --to-datetime 2030-03-17T17:46:45 --topic orders --dry-run",
                "--reset-offsets --group alpha --to-datetime 2030 --topic orders --dry-run",
                "--reset-offsets --group alpha --to-datetime 2099-01-01T00:00:00.000Z --topic orders --dry-run",
                "--reset-offsets --group alpha --by-duration P1D --topic orders --dry-run",
                "--reset-offsets --group alpha --by-duration yesterday --topic orders --dry-run",
                "--reset-offsets --group alpha --from-file {folder}/one.csv --dry-run",
                "--reset-offsets --group alpha --group beta --from-file {folder}/several.csv --dry-run",
                "--reset-offsets --group gamma --from-file {folder}/several.csv --dry-run",
                "--reset-offsets --group alpha --from-file {folder}/word.csv --dry-run",
                "--reset-offsets --group alpha --from-file {folder}/number.csv --dry-run",
                "--reset-offsets --group alpha --from-file {folder}/blank.csv --dry-run",
                "--reset-offsets --group alpha --from-file {folder}/missing.csv --dry-run",
                "--reset-offsets --group alpha --to-earliest --all-topics --export --dry-run",
                "--reset-offsets --group alpha --group beta --to-latest --all-topics --export --dry-run",
                "--reset-offsets --all-groups --to-earliest --topic orders:0 --dry-run",
                "--reset-offsets --group alpha --to-earliest --topic nowhere --dry-run",
                "--reset-offsets --group alpha --to-earliest --topic nowhere:0 --dry-run",
                "--reset-offsets --group alpha --to-earliest --topic orders:9 --dry-run",
                "--reset-offsets --group alpha --to-earliest --topic orders:x --dry-run",
                "--reset-offsets --group alpha --to-earliest --topic orders:0:1 --dry-run",
                "--reset-offsets --group new --to-earliest --all-topics --dry-run",
                "--reset-offsets --group new --shift-by 7 --topic orders --execute",
                "--delete-offsets",
                "--delete-offsets --group beta --topic orders:1",
                "--delete-offsets --group beta --topic nowhere:3 --topic orders:2",
                "--delete-offsets --group alpha --topic orders --topic payments",
                "--delete-offsets --group alpha --topic nowhere",
                "--delete-offsets --group nobody --topic payments",
                "--delete-offsets --group beta --topic orders:x",
                "--delete --topic x --group a",
                "--delete",
                "--delete --group nobody",
                "--delete --group alpha --group nobody",
                "--delete --group beta",
            ),
        ),
        *_lines(
            "kafka-groups",
            (
                "--list",
                "--list --consumer",
                "--list --group-type classic",
                "--list --group-type bogus",
                "--list --protocol consumer",
                "--list --share",
                "--list --share --consumer",
                "--list --bogus",
                "--consumer",
            ),
        ),
        "kafka-groups --list",
    ),
    PLANS,
)

TRANSACTIONS = Scenario(
    "transactions",
    (
        *_TOPICS[:3],
        "kafka-transactions",
        "kafka-transactions list",
        *_lines(
            "kafka-transactions",
            (
                "",
                "bogus",
                "list",
                "list --duration-filter x",
                "list --transactional-id-pattern (",
                "describe",
                "describe --transactional-id nobody",
                "describe-producers",
                "describe-producers --topic orders",
                "describe-producers --topic orders --partition x",
                "describe-producers --topic orders --partition 0",
                "find-hanging",
                "find-hanging --partition 1",
                "find-hanging --topic orders",
                "find-hanging --broker-id 1",
                "abort",
                "abort --topic orders --partition 0",
                "abort --topic orders --partition 0 --start-offset 999",
                "abort --topic orders --partition 0 --producer-id 1",
                "abort --topic orders --partition 0 --producer-id 1 --producer-epoch 1",
                "forceTerminateTransaction",
                "forceTerminateTransaction --transactionalId nobody",
                "list",
                "describe --transactional-id nobody",
            ),
        ),
    ),
)

STREAMS = Scenario(
    "streams-application-reset",
    (
        *_TOPICS,
        "kafka-topics --bootstrap-server {broker} --create --topic app-store-changelog",
        "kafka-topics --bootstrap-server {broker} --create --topic app-by-key-repartition",
        "kafka-topics --bootstrap-server {broker} --create --topic app-other",
        "kafka-streams-application-reset",
        *_lines(
            "kafka-streams-application-reset",
            (
                "--application-id app --bogus",
                "--application-id app --dry-run",
                "--application-id app --dry-run --input-topics app-store-changelog",
                "--application-id app --input-topics orders,nowhere --intermediate-topics payments --dry-run",
                "--application-id app --input-topics nowhere --dry-run",
                "--application-id app --input-topics orders --to-earliest --to-latest",
                "--application-id app --input-topics orders --to-offset 15 --dry-run",
                "--application-id app --input-topics orders --to-offset x --dry-run",
                "--application-id app --input-topics orders --to-offset 3 --internal-topics app-store-changelog",
                "--application-id app --input-topics orders --shift-by 1 --dry-run",
                "--application-id app --input-topics orders --shift-by -3 --dry-run",
                "--application-id app --input-topics orders --to-latest --dry-run",
                "--application-id app --input-topics orders --to-datetime 2030-03-17T17:46:45.000 --dry-run",
                "--application-id app --input-topics orders --to-datetime 2099-01-01T00:00:00.000 --dry-run",
                "--application-id app --input-topics orders --to-datetime 2030 --dry-run",
                "--application-id app --input-topics orders --by-duration P1D --dry-run",
                "--application-id app --input-topics orders --by-duration yesterday --dry-run",
                "--application-id app --input-topics orders --from-file {folder}/whole.csv --dry-run",
                "--application-id app --input-topics orders --from-file {folder}/word.csv --dry-run",
                "--application-id app --input-topics orders --from-file {folder}/empty.csv --dry-run",
                "--application-id app --input-topics orders --from-file {folder}/missing.csv --dry-run",
                "--application-id app --internal-topics app-other",
                "--application-id app --config-file {folder}/client.properties",
            ),
        ),
        "kafka-topics --bootstrap-server {broker} --list",
        "kafka-consumer-groups --bootstrap-server {broker} --describe --group app",
    ),
    PLANS,
)

GROUP_SCENARIOS = (GROUPS, TRANSACTIONS, STREAMS)
