"""The canonical and the normalised text, to the byte: ids depend on them."""

from __future__ import annotations

import pytest

from schema_registry.formats.protobuf.schema import ProtobufSchema
from tests.schema_registry.formats.protobuf.language_cases import LANGUAGE_CASES, SHARED, Case
from tests.schema_registry.formats.protobuf.odd_cases import ODD_CASES
from tests.schema_registry.formats.protobuf.option_cases import OPTION_CASES

CASES = {**LANGUAGE_CASES, **OPTION_CASES, **ODD_CASES}
REFERENCES = {"shared.proto": SHARED}


def _spaced(text: str) -> str:
    return text.replace("␠", " ")


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_canonical_and_normalised_text(case: Case) -> None:
    schema = ProtobufSchema.parse(case.written, REFERENCES)
    assert schema.canonical == _spaced(case.canonical)
    assert schema.normalised().canonical == _spaced(case.normalised)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_canonical_text_is_read_back_as_it_is(case: Case) -> None:
    canonical = _spaced(case.canonical)
    assert ProtobufSchema.parse(canonical, REFERENCES).canonical == canonical


# The empty lines in place of empty parts are Confluent's, and go when the text is normalised once more.
@pytest.mark.parametrize("name", [name for name in CASES if name != "empty_parts"])
def test_what_is_normalised_stays_as_it_is(name: str) -> None:
    normalised = ProtobufSchema.parse(CASES[name].written, REFERENCES).normalised()
    again = ProtobufSchema.parse(normalised.canonical, REFERENCES)
    assert again.normalised().canonical == normalised.canonical


NUMBERS = [
    ("1", "1"),
    ("-1", "-1"),
    ("010", "8"),
    ("-010", "-8"),
    ("09", "09"),
    ("0x1F", "31"),
    ("-0x1f", "-31"),
    ("1.5", "1.5"),
    ("1.0", "1"),
    ("-0.0", "-0"),
    ("1.23456", "1.235"),
    ("0.0005", "0.001"),
    ("0.0015", "0.002"),
    ("2.0005", "2"),
    ("33333.3335", "33333.334"),
    ("1e5", "100000"),
    ("1E10", "10000000000"),
    ("1e20", "100000002004087730000"),
    ("1e-5", "0"),
    ("123456789.123", "123456789.123"),
    ("16777217.5", "16777217.5"),
    ("9007199254740993", "9007199254740993"),
    ("0.30000000000000004", "0.3"),
    ("3.4028235e38", "340282346638528860000000000000000000000"),
    ("100000000000000000000", "100000000000000000000"),
    ("inf", "inf"),
    ("-inf", "-inf"),
    ("nan", "nan"),
    (".5", "0.5"),
    ("5.", "5"),
    ("5f", "5"),
    ("9L", "9"),
    ("7d", "7"),
    ("08.5", "8.5"),
    ("-1.5e-2", "-0.015"),
    ("1e39", "1" + "0" * 39),
    ("1e400", "1" + "0" * 400),
    ("1e-50", "0"),
    ("1e-350", "0"),
    ("0.12345678901234567890123", "0.123"),
    ("0.00049999999999999999999999", "0.001"),
    ("1234567890123456789.5", "1234567890123456789.5"),
    ("1e99999999999999999999", "1e99999999999999999999"),
    ("9" * 500, "9" * 500),
]


@pytest.mark.parametrize(("written", "normal"), NUMBERS)
def test_numbers_have_javas_normal_form(written: str, normal: str) -> None:
    text = f'syntax = "proto2"; message M {{ optional double d = 1 [default = {written}]; }}'
    assert f"[default = {normal}]" in ProtobufSchema.parse(text).normalised().canonical


def test_exponents_with_a_plus_sign_can_be_read() -> None:
    """Compilers write great defaults so, and the canonical text repeats them."""
    schema = ProtobufSchema.parse("message M { optional double d = 1 [default = 1e+20]; }")
    assert "default = 1e+20" in schema.canonical


def test_a_reference_in_another_text_gives_the_same_normal_form() -> None:
    case = LANGUAGE_CASES["services"]
    rewritten = ProtobufSchema.parse(SHARED).normalised().canonical
    schema = ProtobufSchema.parse(case.written, {"shared.proto": rewritten})
    assert schema.normalised().canonical == _spaced(case.normalised)
