"""Which overload a call means, and what is said when none fits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from streams_sql.function_declaration import (
    AggregateFunction,
    AggregateOverload,
    AnyType,
    ArrayOf,
    Function,
    Group,
    IntervalUnit,
    LambdaOf,
    MapOf,
    Overload,
)
from streams_sql.functions.resolution import (
    Argument,
    LambdaArgument,
    LambdaTypes,
    UnitArgument,
    resolve,
    resolve_aggregate,
    signature_text,
    unknown_function,
)
from streams_sql.functions.signatures import parse_signature
from streams_sql.problem import SqlProblem
from streams_sql.sql_types import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    INTEGER,
    STRING,
    TIMESTAMP,
    Array,
    Decimal,
    Field,
    Map,
    SqlType,
    Struct,
)


def nothing(*_: Any) -> None:
    return None


def function(*signatures: str) -> Function:
    return Function("F", Group.OTHER, "", tuple(overload(text) for text in signatures), "f")


def overload(text: str) -> Overload:
    signature = parse_signature(text)
    return Overload(signature.parameters, signature.result, (), text, nothing, signature.is_variadic)


def lambda_of(count: int, body: Callable[[Sequence[SqlType]], SqlType | None]) -> LambdaArgument:
    return LambdaArgument("x => …", count, body)


@pytest.mark.parametrize(
    ("signatures", "arguments", "chosen"),
    [
        (["INTEGER -> STRING", "BIGINT -> STRING"], [INTEGER], 0),
        (["INTEGER -> STRING", "DOUBLE -> STRING"], [Decimal(4, 2)], 1),
        (["BIGINT -> STRING"], [INTEGER], 0),
        (["DECIMAL -> STRING"], [BIGINT], 0),
        (["TIMESTAMP -> STRING"], [STRING], 0),
        (["BYTES -> STRING"], [STRING], 0),
        (["ARRAY<DOUBLE> -> STRING"], [Array(INTEGER)], 0),
        (["MAP<STRING, BIGINT> -> STRING"], [Map(STRING, INTEGER)], 0),
        (["STRUCT -> STRING"], [Struct((Field("A", INTEGER),))], 0),
        (["STRING... -> STRING", "STRING, STRING -> STRING"], [STRING, STRING], 1),
        (["STRING... -> STRING", "STRING, STRING -> STRING"], [STRING, STRING, STRING], 0),
        (["STRING, STRING... -> STRING", "STRING... -> STRING"], [STRING, STRING], 0),
        (["STRING, STRING... -> STRING"], [STRING], 0),
        (["STRING... -> STRING"], [], 0),
        (["T -> STRING", "STRING -> STRING"], [STRING], 1),
        (["T -> STRING", "STRING -> STRING"], [INTEGER], 0),
        (["INTEGER, STRING -> STRING", "STRING, STRING -> STRING"], [STRING, None], 1),
        (["INTERVALUNIT, INTEGER -> STRING"], [UnitArgument("DAYS"), INTEGER], 0),
        (["ARRAY<T>, T -> BOOLEAN"], [Array(STRING), STRING], 0),
        (["ARRAY<T>, (T) => R -> ARRAY<R>", "ARRAY<T>, (T, T) => R -> R"], [Array(STRING), lambda_of(2, nothing)], 1),
    ],
)
def test_choice(signatures: list[str], arguments: list[Argument], chosen: int) -> None:
    chosen_overload = overload(signatures[chosen])
    found = function(*signatures)
    if "=>" in signatures[chosen]:
        arguments = [*arguments[:-1], lambda_of(2, lambda types: types[0])]
    assert resolve(found, arguments).overload.description == chosen_overload.description


@pytest.mark.parametrize(
    ("signature", "arguments", "casts", "result"),
    [
        ("DOUBLE, INTEGER -> DOUBLE", [INTEGER, INTEGER], (DOUBLE, INTEGER), DOUBLE),
        ("DECIMAL -> STRING", [INTEGER], (Decimal(10, 0),), STRING),
        ("DECIMAL -> STRING", [BIGINT], (Decimal(19, 0),), STRING),
        ("DECIMAL -> STRING", [Decimal(4, 2)], (Decimal(4, 2),), STRING),
        ("DATE -> TIMESTAMP", [STRING], (DATE,), TIMESTAMP),
        ("T, T... -> T", [None, STRING, None], (STRING, STRING, STRING), STRING),
        ("MAP<K, V> -> ARRAY<K>", [Map(STRING, INTEGER)], (Map(STRING, INTEGER),), Array(STRING)),
        ("ARRAY<DOUBLE> -> DOUBLE", [Array(INTEGER)], (Array(DOUBLE),), DOUBLE),
        ("INTERVALUNIT, BYTES -> BYTES", [UnitArgument("DAYS"), BYTES], (None, BYTES), BYTES),
        (
            "STRING -> ARRAY<STRUCT<K STRING, V ARRAY<INTEGER>>>",
            [STRING],
            (STRING,),
            Array(Struct((Field("K", STRING), Field("V", Array(INTEGER))))),
        ),
    ],
)
def test_types_of_a_call(
    signature: str, arguments: list[Argument], casts: tuple[SqlType | None, ...], result: SqlType
) -> None:
    resolved = resolve(function(signature), arguments)
    assert (resolved.arguments, resolved.result) == (casts, result)


def test_lambdas_bind_types_in_their_order() -> None:
    seen: list[tuple[SqlType, ...]] = []

    def body(types: Sequence[SqlType]) -> SqlType:
        seen.append(tuple(types))
        return BOOLEAN if len(seen) == 1 else DOUBLE

    found = function("MAP<K, V>, (K, V) => R, (K, V) => S -> MAP<R, S>")
    resolved = resolve(found, [Map(STRING, INTEGER), lambda_of(2, body), lambda_of(2, body)])
    assert seen == [(STRING, INTEGER)] * 2
    assert resolved.result == Map(BOOLEAN, DOUBLE)
    assert resolved.arguments[1] == LambdaTypes((STRING, INTEGER), BOOLEAN)


def test_the_body_of_a_lambda_must_fit() -> None:
    with pytest.raises(SqlProblem, match="does not accept parameters"):
        resolve(
            function("ARRAY<T>, (T) => BOOLEAN -> ARRAY<T>"), [Array(INTEGER), lambda_of(1, lambda types: types[0])]
        )


@pytest.mark.parametrize(
    ("signatures", "arguments", "words"),
    [
        (["INTEGER -> STRING"], [STRING], r"Function 'f' does not accept parameters \(STRING\)"),
        (["STRING -> STRING"], [INTEGER], r"f\(VARCHAR\)"),
        (["STRING, INTEGER... -> STRING"], [BOOLEAN], r"f\(VARCHAR, INT\.\.\.\)"),
        (["INTEGER -> STRING"], [BIGINT], "does not accept"),
        (["ARRAY<T>, T -> BOOLEAN"], [Array(STRING), INTEGER], r"\(ARRAY<STRING>, INTEGER\)"),
        (["ARRAY<DOUBLE>, T -> T"], [Array(STRING), STRING], "does not accept"),
        (["INTEGER -> STRING"], [UnitArgument("DAYS")], r"\(DAYS\)"),
        (["(T) => T -> T"], [STRING], "does not accept"),
        (["INTERVALUNIT -> STRING"], [STRING], "does not accept"),
        (["STRUCT -> STRING"], [STRING], "does not accept"),
        (["T -> T"], [None], r"\(null\)"),
        (["BIGINT, BIGINT... -> BIGINT", "DOUBLE, DOUBLE... -> DOUBLE"], [INTEGER, INTEGER], "ambiguous"),
        (["INTEGER -> STRING", "STRING -> STRING"], [None], "ambiguous"),
    ],
)
def test_what_does_not_fit_is_said(signatures: list[str], arguments: list[Argument], words: str) -> None:
    with pytest.raises(SqlProblem, match=words):
        resolve(function(*signatures), arguments)


def test_arguments_of_aggregates_are_not_widened() -> None:
    def of(text: str) -> AggregateFunction:
        signature = parse_signature(text)
        made = AggregateOverload(signature.parameters, signature.result, (), "", nothing)  # type: ignore[arg-type]
        return AggregateFunction("F", "", (made,), "f")

    assert resolve_aggregate(of("INTEGER -> BIGINT"), [INTEGER]).result == BIGINT
    with pytest.raises(SqlProblem, match="does not accept"):
        resolve_aggregate(of("BIGINT -> BIGINT"), [INTEGER])


def test_an_unknown_function_is_told_with_the_nearest() -> None:
    assert "Did you mean SUBSTRING?" in unknown_function("substr", ["SUM", "SUBSTRING"]).message
    assert "SHOW FUNCTIONS" in unknown_function("xyz", ["SUM", "SUBSTRING"]).message


def test_signatures_are_shown_as_clients_know_them() -> None:
    assert signature_text("f", overload("MAP<STRING, T>, INTEGER... -> T")) == "f(MAP<VARCHAR, T>, INT...)"


@pytest.mark.parametrize(
    ("text", "parameter"),
    [
        ("ARRAY<T> -> T", ArrayOf(AnyType("T"))),
        ("MAP<K, ARRAY<V>> -> T", MapOf(AnyType("K"), ArrayOf(AnyType("V")))),
        ("DECIMAL(4, 2) -> T", Decimal(4, 2)),
        ("(K, V) => BOOLEAN -> T", LambdaOf((AnyType("K"), AnyType("V")), BOOLEAN)),
        ("INTERVALUNIT -> T", IntervalUnit()),
        ("STRUCT<A STRING> -> T", Struct((Field("A", STRING),))),
    ],
)
def test_patterns_of_signatures(text: str, parameter: object) -> None:
    assert parse_signature(text).parameters == (parameter,)


@pytest.mark.parametrize(
    "text", ["STRING", "STRING ->", "NUMBER -> STRING", "MAP<K> -> K", "A -> B C", "STRUCT<A T> -> T", "ARRAY(T) -> T"]
)
def test_a_wrong_signature_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"signature|NUMBER|types|field"):
        parse_signature(text)
