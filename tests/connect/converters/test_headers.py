"""Converters of headers."""

from typing import Any

import pytest

from connect.api.plugin import PluginKind
from connect.converters.byte_array import NoSettings
from connect.converters.headers import SimpleHeaderConverter, for_headers
from connect.converters.numbers import LongConverter
from connect.converters.plugins import PLUGINS
from connect.data.schema import BYTES, INT8, INT64
from tests.connect.converters.cases import CASES
from tests.connect.converters.recorded import recorded

SIMPLE = SimpleHeaderConverter(NoSettings())


@pytest.mark.parametrize(("case", "java"), recorded("header"))
def test_simple_headers_are_what_java_writes(case: str, java: dict[str, Any]) -> None:
    assert SIMPLE.encode("t", "h", *CASES[case]) == java["data"].encode()


def test_simple_headers_are_read_as_what_they_show() -> None:
    assert SIMPLE.decode("t", "h", b"12") == (INT8, 12)
    assert SIMPLE.decode("t", "h", None) == (None, None)
    assert SIMPLE.decode("t", "h", b"\xff") == (BYTES, b"\xff")
    assert SIMPLE.encode("t", "h", None, None) is None


def test_converters_of_values_serve_headers_too() -> None:
    longs = for_headers(LongConverter)(NoSettings())
    assert longs.decode("t", "h", longs.encode("t", "h", INT64, 7)) == (INT64.as_optional(), 7)


def test_plugins_stand_under_the_names_of_java() -> None:
    named = {(plugin.kind, plugin.class_name.rpartition(".")[2]) for plugin in PLUGINS}
    assert len(named) == len(PLUGINS) == 22
    assert (PluginKind.CONVERTER, "JsonConverter") in named
    assert (PluginKind.HEADER_CONVERTER, "JsonConverter") in named
    assert (PluginKind.CONVERTER, "AvroConverter") in named
    assert (PluginKind.HEADER_CONVERTER, "AvroConverter") not in named
    assert (PluginKind.CONVERTER, "SimpleHeaderConverter") not in named
