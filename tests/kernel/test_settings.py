from __future__ import annotations

from pathlib import Path

import pytest

from barnabas.kernel.setting_errors import SettingError
from barnabas.kernel.settings import MASK, Catalogue, Kind, Origin, Setting, Settings, Value, resolve

SEGMENT_BYTES = Setting("log.segment.bytes", Kind.INT, 1 << 30, "Size of a segment.", unit="bytes", minimum=1048576)
RETENTION_MS = Setting("log.retention.ms", Kind.LONG, None, "Age at which records may go.", unit="ms")
CLEANUP = Setting(
    "log.cleanup.policy", Kind.LIST, "delete", "What happens to old records.", choices=("delete", "compact")
)
RATIO = Setting("log.cleaner.ratio", Kind.DOUBLE, 0.5, "Share of dirty bytes.", minimum=0, maximum=1)
PRIORITY = Setting("priority", Kind.SHORT, 3, "A small number.")
ENABLED = Setting("auto.create.topics.enable", Kind.BOOLEAN, True, "Create on first use.")
PASSWORD = Setting("ssl.key.password", Kind.PASSWORD, None, "Opens the key.")
LISTENERS = Setting("listeners", Kind.STRING, "PLAINTEXT://:9092", "Where to listen.")
JAAS = Setting("listener.name.*.sasl.jaas.config", Kind.STRING, None, "Login of one listener.", secret=True)
FAMILY = Setting("listener.name.*", Kind.STRING, None, "Override for one listener.")

CATALOGUE = Catalogue(
    [SEGMENT_BYTES, RETENTION_MS, CLEANUP, RATIO, PRIORITY, ENABLED, PASSWORD, LISTENERS, JAAS, FAMILY]
)


def settings(
    flags: dict[str, str] | None = None, environ: dict[str, str] | None = None, file: Path | None = None
) -> Settings:
    return resolve(CATALOGUE, flags or {}, environ or {}, file)


@pytest.mark.parametrize(
    ("setting", "text", "value"),
    [
        (SEGMENT_BYTES, " 1048576 ", 1048576),
        (RETENTION_MS, "-1", -1),
        (RETENTION_MS, "9223372036854775807", 9223372036854775807),
        (CLEANUP, "compact , delete", ("compact", "delete")),
        (CLEANUP, "", ()),
        (RATIO, "1e-1", 0.1),
        (PRIORITY, "-32768", -32768),
        (ENABLED, "FALSE", False),
        (ENABLED, "true", True),
        (LISTENERS, " PLAINTEXT://:1 ", "PLAINTEXT://:1"),
        (PASSWORD, "open sesame", "open sesame"),
    ],
)
def test_a_text_becomes_the_typed_value(setting: Setting, text: str, value: Value) -> None:
    assert setting.parse(text) == value
    assert type(setting.parse(text)) is type(value)


@pytest.mark.parametrize(
    ("setting", "text", "reason"),
    [
        (SEGMENT_BYTES, "1 GiB", "expected a whole number (bytes)"),
        (SEGMENT_BYTES, "1_000_000", "expected a whole number (bytes)"),
        (SEGMENT_BYTES, "1024", "expected at least 1048576 (bytes)"),
        (SEGMENT_BYTES, "2147483648", "does not fit in 32 bits"),
        (PRIORITY, "32768", "does not fit in 16 bits"),
        (RETENTION_MS, "9223372036854775808", "does not fit in 64 bits"),
        (RATIO, "1.5", "expected at most 1"),
        (RATIO, "half", "expected a number"),
        (RATIO, "nan", "expected a number"),
        (RATIO, "1_0", "expected a number"),
        (RATIO, "1e999", "is too large for a double"),
        (RETENTION_MS, "9" * 5000, "expected a whole number (ms)"),
        (ENABLED, "yes", "expected true or false"),
        (CLEANUP, "delete,compcat", "expected one of delete, compact; did you mean compact?"),
    ],
)
def test_a_malformed_text_is_refused_with_name_value_and_reason(setting: Setting, text: str, reason: str) -> None:
    with pytest.raises(SettingError) as caught:
        setting.parse(text)
    assert str(caught.value) == f"{setting.name}={text!r}: {reason}"


@pytest.mark.parametrize(
    ("setting", "value", "text"),
    [
        (ENABLED, True, "true"),
        (CLEANUP, ("compact", "delete"), "compact,delete"),
        (CLEANUP, (), ""),
        (SEGMENT_BYTES, 5, "5"),
        (RETENTION_MS, None, None),
        # The forms below are those of Java's Double.toString.
        (RATIO, 0.5, "0.5"),
        (RATIO, 1.0, "1.0"),
        (RATIO, 0.0, "0.0"),
        (RATIO, 0.001, "0.001"),
        (RATIO, 0.0001, "1.0E-4"),
        (RATIO, 12345678.9, "1.23456789E7"),
        (RATIO, 1e22, "1.0E22"),
    ],
)
def test_a_value_is_printed_as_kafka_prints_it(setting: Setting, value: Value, text: str | None) -> None:
    assert setting.format(value) == text


def test_a_default_has_the_type_of_its_kind() -> None:
    assert settings()["log.cleanup.policy"] == ("delete",)
    assert settings()["log.retention.ms"] is None


def test_flag_wins_over_environment_over_file_over_default(tmp_path: Path) -> None:
    file = tmp_path / "server.properties"
    file.write_text("# mine\nlog.retention.ms=1\npriority=1\nlisteners=file\n")
    environ = {"BARNABAS_PRIORITY": "2", "BARNABAS_LISTENERS": "environment", "KAFKA_LISTENERS": "kafka"}
    resolved = settings({"listeners": "flag"}, environ, file)

    assert [resolved[name] for name in ("listeners", "priority", "log.retention.ms")] == ["flag", 2, 1]
    assert resolved["log.segment.bytes"] == 1 << 30
    assert resolved.source("listeners").origin is Origin.FLAG
    assert str(resolved.source("priority")) == "BARNABAS_PRIORITY"
    assert str(resolved.source("log.retention.ms")) == f"{file}:2"
    assert str(resolved.source("log.segment.bytes")) == "default"
    assert resolved.is_given("priority")
    assert not resolved.is_given("log.segment.bytes")


def test_kafka_image_variables_are_read_and_ours_win() -> None:
    resolved = settings(environ={"KAFKA_LOG_RETENTION_MS": "5", "KAFKA_PRIORITY": "1", "BARNABAS_PRIORITY": "2"})
    assert resolved["log.retention.ms"] == 5
    assert str(resolved.source("log.retention.ms")) == "KAFKA_LOG_RETENTION_MS"
    assert resolved["priority"] == 2


def test_an_unknown_kafka_variable_is_remarked_on_and_passed_over() -> None:
    resolved = settings(environ={"KAFKA_LOG_RETENTON_MS": "5"})
    assert resolved["log.retention.ms"] is None
    [remark] = resolved.remarks
    assert remark == (
        "environment variable KAFKA_LOG_RETENTON_MS is passed over: "
        "there is no setting log.retenton.ms; did you mean log.retention.ms?"
    )


def test_an_unknown_variable_of_ours_is_an_error_with_the_nearest_name() -> None:
    with pytest.raises(SettingError) as caught:
        settings(environ={"BARNABAS_LOG_RETENTON_MS": "5"})
    assert str(caught.value) == (
        "BARNABAS_LOG_RETENTON_MS: log.retenton.ms='5': there is no such setting; did you mean log.retention.ms?"
    )


def test_a_malformed_value_in_a_file_is_reported_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "server.properties"
    file.write_text("\n\nlog.retention.ms=soon\n")
    with pytest.raises(SettingError) as caught:
        settings(file=file)
    assert str(caught.value) == f"{file}:3: log.retention.ms='soon': expected a whole number (ms)"


def test_an_unknown_flag_names_its_value_and_the_command_line() -> None:
    with pytest.raises(SettingError, match=r"^command line: zebra='1': there is no such setting$"):
        settings({"zebra": "1"})


@pytest.mark.parametrize("name", ["ssl.key.pasword", "ssl.key.passphrase.secret"])
def test_the_value_of_an_unknown_name_that_sounds_secret_is_not_shown(name: str) -> None:
    with pytest.raises(SettingError) as caught:
        settings({name: "hunter2"})
    assert "hunter2" not in str(caught.value)


def test_a_malformed_secret_is_not_shown() -> None:
    setting = Setting("pin", Kind.INT, None, "A secret number.", secret=True)
    with pytest.raises(SettingError) as caught:
        setting.parse("hunter2")
    assert str(caught.value) == f"pin={MASK}: expected a whole number"


def test_a_family_takes_every_name_it_covers_and_the_first_declaration_wins() -> None:
    name = "listener.name.internal.ssl.keystore.location"
    login = "listener.name.internal.plain.sasl.jaas.config"
    resolved = settings(
        environ={"KAFKA_LISTENER_NAME_INTERNAL_SSL_KEYSTORE_LOCATION": "store"}, flags={login: "hunter2"}
    )
    assert resolved[name] == "store"
    assert resolved["listener.name.other.ssl.keystore.location"] is None
    assert CATALOGUE.require(login) is JAAS
    rows = {row.name: row.text for row in resolved.explain()}
    assert rows[name] == "store"
    assert rows[login] == MASK
    assert "listener.name.*" not in rows


def test_the_name_of_a_family_is_not_itself_a_setting() -> None:
    assert CATALOGUE.find("listener.name.") is None
    with pytest.raises(SettingError):
        settings({"listener.name.": "x"})


def test_explain_masks_secrets_and_shows_their_absence() -> None:
    assert {row.name: row.text for row in settings().explain()}["ssl.key.password"] is None
    explained = {row.name: row for row in settings({"ssl.key.password": "hunter2"}).explain()}
    assert explained["ssl.key.password"].text == MASK
    assert explained["log.segment.bytes"].text == "1073741824"
    assert list(explained) == sorted(explained)


def test_typed_readers_return_the_type_or_say_what_is_wrong() -> None:
    resolved = settings({"log.retention.ms": "7"})
    assert resolved.integer("log.retention.ms") == 7
    assert resolved.boolean("auto.create.topics.enable") is True
    assert resolved.number("log.cleaner.ratio") == 0.5
    assert resolved.text("listeners") == "PLAINTEXT://:9092"
    assert resolved.items_of("log.cleanup.policy") == ("delete",)
    assert settings().integer_or_none("log.retention.ms") is None
    assert settings().text_or_none("ssl.key.password") is None
    with pytest.raises(TypeError, match=r"log\.retention\.ms is None"):
        settings().integer("log.retention.ms")
    with pytest.raises(SettingError, match="did you mean listeners"):
        resolved.text("listener")


def test_a_replaced_value_leaves_the_original_alone() -> None:
    original = settings()
    changed = original.replaced("priority", 9, original.source("priority"))
    assert (original["priority"], changed["priority"]) == (3, 9)


def test_a_smaller_catalogue_keeps_values_and_sources() -> None:
    own = Catalogue([PRIORITY])
    both = own | Catalogue([LISTENERS])
    narrowed = resolve(both, {"priority": "4"}, {"KAFKA_NOTHING": ""}).over(own)
    assert dict(narrowed) == {"priority": 4}
    assert narrowed.source("priority").origin is Origin.FLAG
    assert len(narrowed.remarks) == 1


def test_a_name_is_declared_once() -> None:
    with pytest.raises(ValueError, match="priority is declared twice"):
        Catalogue([PRIORITY, PRIORITY])


def test_toml_tables_and_dotted_names_mean_the_same(tmp_path: Path) -> None:
    file = tmp_path / "barnabas.toml"
    file.write_text(
        'priority = 5\nauto.create.topics.enable = false\n"log.cleaner.ratio" = 0.25\n'
        '[log]\nretention.ms = 60000\ncleanup.policy = ["compact", "delete"]\n'
    )
    resolved = settings(file=file)
    assert resolved["priority"] == 5
    assert resolved["auto.create.topics.enable"] is False
    assert resolved["log.retention.ms"] == 60000
    assert resolved["log.cleanup.policy"] == ("compact", "delete")
    assert resolved["log.cleaner.ratio"] == 0.25
    assert str(resolved.source("priority")) == str(file)


def test_a_toml_value_that_is_no_setting_value_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "barnabas.toml"
    file.write_text("log.retention.ms = 2020-01-01\n")
    with pytest.raises(SettingError, match=r"log\.retention\.ms: expected text, a number, .* not date"):
        settings(file=file)


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("broken.toml", b"a = = 1", "no valid TOML"),
        ("binary.toml", b"a = '\xff'", "no valid TOML"),
        ("broken.properties", b"a=\\u12", "line 1: .*four hexadecimal digits"),
    ],
)
def test_a_file_that_is_not_of_its_format_is_refused_by_name(
    tmp_path: Path, name: str, content: bytes, reason: str
) -> None:
    file = tmp_path / name
    file.write_bytes(content)
    with pytest.raises(SettingError, match=reason) as caught:
        settings(file=file)
    assert name in str(caught.value)


def test_all_mistakes_are_told_at_once(tmp_path: Path) -> None:
    file = tmp_path / "server.properties"
    file.write_text("log.retention.ms=soon\npriorty=1\nlisteners=here\n")
    with pytest.raises(SettingError) as caught:
        settings({"priority": "high"}, file=file)
    assert str(caught.value).splitlines() == [
        "3 settings cannot be taken",
        f"  {file}:1: log.retention.ms='soon': expected a whole number (ms)",
        f"  {file}:2: priorty='1': there is no such setting; did you mean priority?",
        "  command line: priority='high': expected a whole number",
    ]
    assert [error.name for error in caught.value.each] == ["log.retention.ms", "priorty", "priority"]


def test_a_missing_file_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"absent\.properties.*cannot be read: No such file"):
        settings(file=tmp_path / "absent.properties")


def test_a_family_may_name_its_members() -> None:
    catalogue = Catalogue(
        [Setting("client.*", Kind.STRING, None, "For clients.", members=frozenset({"linger.ms", "acks"}))]
    )
    assert resolve(catalogue, {"client.linger.ms": "5"}, {})["client.linger.ms"] == "5"
    with pytest.raises(SettingError, match=r"there is no such setting; did you mean client\.linger\.ms\?"):
        resolve(catalogue, {"client.linger": "5"}, {})


def test_a_setting_that_changes_nothing_is_told_to_whoever_gives_it() -> None:
    catalogue = Catalogue([Setting("old", Kind.STRING, None, "Old.", inert="it is old"), ENABLED])
    given = resolve(catalogue, {"old": "1"}, {})
    assert given.remarks == ("command line: old changes nothing: it is old",)
    assert [row.name for row in given.explain()] == ["auto.create.topics.enable", "old"]
    untouched = resolve(catalogue, {}, {})
    assert (untouched.remarks, [row.name for row in untouched.explain()]) == ((), ["auto.create.topics.enable"])
