"""Settings from their declarations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pytest

from barnabas.kernel.settings import MASK, Kind
from connect.api.settings import Importance, Width, keys_of, read, setting, texts_of
from connect.errors import InvalidSettings, Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    url: str = setting("url", "Where to.", importance=Importance.HIGH, width=Width.LONG)
    password: str | None = setting("password", "Opens it.", None, secret=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Every(Base):
    count: int = setting("count", "How many.", 3, minimum=1, maximum=9, unit="rows")
    big: int = setting("big", "A long one.", 0, kind=Kind.LONG)
    share: float = setting("share", "How much.", 0.5, minimum=0)
    on: bool = setting("on", "Whether.", True)
    names: tuple[str, ...] = setting("names", "Which.", ("a", "b"))
    mode: str = setting("mode", "How.", "slow", choices=("slow", "fast"), any_case=True)
    note: str | None = setting("note", "What else.", None)
    limit: int | None = setting("limit", "How far.", None)
    further: Mapping[str, str] = setting("driver.*", "Passed on.")
    timeout: int = setting("driver.timeout", "Of the driver, but not passed on.", 5)
    inner: str = "no setting at all"

    def problems(self) -> Iterator[Problem]:
        if self.limit is not None and self.limit < self.count:
            yield Problem("limit", "is below count")


def test_kinds_follow_from_types() -> None:
    kinds = {key.name: key.kind for key in keys_of(Every).values()}
    assert kinds == {
        "url": Kind.STRING, "password": Kind.PASSWORD, "count": Kind.INT, "big": Kind.LONG, "share": Kind.DOUBLE, "on": Kind.BOOLEAN,
        "names": Kind.LIST, "mode": Kind.STRING, "note": Kind.STRING, "limit": Kind.INT, "driver.*": Kind.STRING,
        "driver.timeout": Kind.INT,
    }  # fmt: skip


def test_a_key_knows_how_forms_show_it() -> None:
    url = keys_of(Every)["url"]
    assert (url.required, url.importance, url.width, url.title, url.group) == (
        True,
        Importance.HIGH,
        Width.LONG,
        "url",
        None,
    )
    assert not keys_of(Every)["driver.*"].required


def test_values_have_the_types_of_their_fields() -> None:
    config = {
        "url": " u ", "password": "p", "count": "9", "big": str(2**40), "share": "1e-3", "on": "FALSE", "names": "x, y,z", "mode": "FAST",
        "note": "", "limit": "12", "driver.a": "1", "driver.b.c": "2", "driver.timeout": "6",
        "unknown": "?",
    }  # fmt: skip
    assert read(Every, config) == Every(
        url="u", password="p", count=9, big=2**40, share=0.001, on=False, names=("x", "y", "z"), mode="FAST", note="", limit=12,
        further={"a": "1", "b.c": "2"}, timeout=6,
    )  # fmt: skip


def test_what_is_not_given_has_its_default() -> None:
    assert read(Every, {"url": "u", "count": None}) == Every(url="u")
    assert Every(url="u").names == ("a", "b")


def test_settings_are_written_out_and_read_again() -> None:
    settings = read(Every, {"url": "u", "names": "", "driver.a": "1", "share": "12345678.5"})
    texts = texts_of(settings)
    assert texts == {
        "url": "u", "count": "3", "big": "0", "share": "1.23456785E7", "on": "true", "names": "", "mode": "slow", "driver.a": "1",
        "driver.timeout": "5",
    }  # fmt: skip
    assert read(Every, texts) == settings


@pytest.mark.parametrize(
    ("config", "messages"),
    [
        ({}, {"url": 'Missing required configuration "url" which has no default value.'}),
        ({"count": "many"}, {"count": "Invalid value 'many' for configuration count: expected a whole number (rows)"}),
        ({"count": "0"}, {"count": "Invalid value '0' for configuration count: expected at least 1 (rows)"}),
        ({"count": "10"}, {"count": "Invalid value '10' for configuration count: expected at most 9 (rows)"}),
        ({"count": str(2**31)}, {"count": f"Invalid value '{2**31}' for configuration count: does not fit in 32 bits"}),
        ({"share": "NaN"}, {"share": "Invalid value 'NaN' for configuration share: expected a number"}),
        ({"on": "yes"}, {"on": "Invalid value 'yes' for configuration on: expected true or false"}),
        (
            {"mode": "fsat"},
            {"mode": "Invalid value 'fsat' for configuration mode: expected one of slow, fast; did you mean fast?"},
        ),
        ({"limit": "2"}, {"limit": "is below count"}),
    ],
    ids=lambda value: next(iter(value.values()), "nothing") if isinstance(value, dict) else None,
)
def test_what_is_wrong_is_said(config: dict[str, str], messages: dict[str, str]) -> None:
    with pytest.raises(InvalidSettings) as invalid:
        read(Every, {**({"url": "u"} if config else {}), **config})
    assert {problem.name: problem.message for problem in invalid.value.problems} == messages


def test_all_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(InvalidSettings) as invalid:
        read(Every, {"count": "0", "on": "perhaps", "mode": "?"})
    assert [problem.name for problem in invalid.value.problems] == ["url", "count", "on", "mode"]
    assert str(invalid.value).count("; ") == 3


def test_secrets_are_neither_in_messages_nor_in_the_text_of_settings() -> None:
    @dataclass
    class Coded:
        code: int = setting("code", "A secret number.", kind=Kind.INT, secret=True)

    with pytest.raises(InvalidSettings) as invalid:
        read(Coded, {"code": "hunter2"})
    assert str(invalid.value) == f"code: Invalid value {MASK} for configuration code: expected a whole number"
    assert "7" not in repr(read(Coded, {"code": "7"}))


def test_a_type_that_no_setting_has_is_a_mistake_of_the_declaration() -> None:
    @dataclass
    class Odd:
        sizes: frozenset[int] = setting("sizes", "Which.", None)

    with pytest.raises(TypeError, match=r"Odd\.sizes is frozenset\[int\]: say its kind"):
        keys_of(Odd)


def test_a_name_is_declared_once() -> None:
    @dataclass
    class Twice:
        one: str = setting("name.of.it", "This.")
        two: str = setting("name.of.it", "That.")

    with pytest.raises(ValueError, match=r"name\.of\.it is declared twice"):
        keys_of(Twice)
