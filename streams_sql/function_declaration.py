"""How a function is declared: once, with its signatures, its words for people, a Python reference, and a native form for Spark.

A signature is text: `"STRING, INTEGER, STRING -> STRING"`, `"ARRAY<T>, T -> BOOLEAN"`, `"MAP<K, V>, (K, V) => BOOLEAN -> MAP<K, V>"`,
`"STRING, T... -> STRING"`. One capital letter is any type, the same one wherever it stands; DECIMAL without numbers is any decimal;
STRUCT without fields is any struct; INTERVALUNIT is a word such as DAYS.

The reference is called with values as `sql_types` describes them. The native form is Spark's SQL with `{0}`, `{1}` … for the arguments
and `{*}` for all of them. It stands only where a property test has shown that both give the same; where it is missing, Spark calls the
reference on batches.
"""

from __future__ import annotations

from collections.abc import Callable, Reversible, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, Protocol, TypeAlias, runtime_checkable

from streams_sql.sql_types import SqlType

UNLIMITED: Final = 2**31 - 1
"""The limit of an aggregate where none is set."""


class Group(Enum):
    AGGREGATE = "Aggregate"
    ARRAY = "Array"
    DATE = "Date/Time"
    JSON = "JSON"
    LAMBDA = "Lambda"
    MAP = "Map"
    MATH = "Mathematical"
    NULL = "Null handling"
    OTHER = "Other"
    OWN = "User-defined"
    REGEX = "Regular expression"
    STRING = "String"
    TABLE = "Table"
    URL = "URL"


@dataclass(frozen=True, slots=True)
class AnyType:
    """One capital letter in a signature: any type, the same one wherever it stands."""

    letter: str

    def __str__(self) -> str:
        return self.letter


@dataclass(frozen=True, slots=True)
class AnyDecimal:
    def __str__(self) -> str:
        return "DECIMAL"


@dataclass(frozen=True, slots=True)
class ArrayOf:
    element: Pattern

    def __str__(self) -> str:
        return f"ARRAY<{self.element}>"


@dataclass(frozen=True, slots=True)
class MapOf:
    key: Pattern
    value: Pattern

    def __str__(self) -> str:
        return f"MAP<{self.key}, {self.value}>"


@dataclass(frozen=True, slots=True)
class AnyStruct:
    def __str__(self) -> str:
        return "STRUCT"


@dataclass(frozen=True, slots=True)
class LambdaOf:
    parameters: tuple[Pattern, ...]
    result: Pattern

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.parameters))}) => {self.result}"


@dataclass(frozen=True, slots=True)
class IntervalUnit:
    """A bare word such as DAYS; the reference gets it as text, in upper case."""

    def __str__(self) -> str:
        return "INTERVALUNIT"


Pattern: TypeAlias = SqlType | AnyType | AnyDecimal | ArrayOf | MapOf | AnyStruct | LambdaOf | IntervalUnit

ReturnRule: TypeAlias = Callable[[Sequence[SqlType | None]], SqlType]
"""The type of the result by those of the arguments, where the signature cannot tell it."""

NativeRule: TypeAlias = Callable[[Sequence[SqlType | None]], str | None]
"""The native form of an aggregate by the types of its arguments; None where Spark cannot compute it."""


@dataclass(frozen=True, slots=True)
class ParameterDoc:
    name: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Overload:
    """One signature. `names` are those of the parameters, as DESCRIBE FUNCTION shows them. The last parameter of a variadic one may
    come any number of times, none included. Without `takes_null`, a NULL among the arguments gives NULL without a call.

    Where `is_typed`, values alone do not tell the reference enough: it is called once, with the types of the arguments and that of the
    result, and gives the function for them."""

    parameters: tuple[Pattern, ...]
    result: Pattern
    names: tuple[ParameterDoc, ...]
    description: str
    reference: Callable[..., Any]
    is_variadic: bool = False
    takes_null: bool = False
    is_deterministic: bool = True
    is_typed: bool = False
    returns: ReturnRule | None = None
    spark: str | None = None


@dataclass(frozen=True, slots=True)
class Function:
    """A scalar function, or with `is_table` one that gives rows (its reference returns a list). `spelling` is the name as ksqlDB has it
    in its messages."""

    name: str
    group: Group
    description: str
    overloads: tuple[Overload, ...]
    spelling: str
    is_table: bool = False
    origin: str = ""
    """Where the code of a user's function is."""


class Accumulator(Protocol):
    """An aggregate in Python. States are plain values, as columns have them, and tuples, sets and bytes: they can be stored anywhere (see `spark/shards/state_encoding`).
    A state may be changed in place by `add`, which returns the one to go on with."""

    def start(self) -> Any: ...

    def add(self, state: Any, *arguments: Any) -> Any: ...

    def result(self, state: Any) -> Any: ...


@runtime_checkable
class Undoing(Accumulator, Protocol):
    """One that can take back what was added, as rows of a table change and go."""

    def undo(self, state: Any, *arguments: Any) -> Any: ...


@runtime_checkable
class Merging(Accumulator, Protocol):
    """One that can make one state of two, as sessions grow together. Both may be changed by it."""

    def merge(self, one: Any, other: Any) -> Any: ...


@runtime_checkable
class Choosing(Accumulator, Protocol):
    """One whose result is some of its values, which are those by the order in which they came."""

    def needed(self, values: Reversible[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
        """The pairs (of anything, and a value), out of all in their order, that a result is made from."""


@dataclass(frozen=True, slots=True)
class AggregateOverload:
    """One signature of an aggregate.

    `constants` is how many parameters at the end must be literals (TOPK(x, 3)): the accumulator is made with them. Where there is a
    `limit_setting`, the number that it is set to, or `UNLIMITED`, is one constant more. `spark` numbers arguments and constants alike;
    it may use `{order}`, which grows with the arrival of records. It gives what can be cast to the type of the result without loss.
    Where `is_typed`, the accumulator is created with the type of the result, before the constants.
    """

    parameters: tuple[Pattern, ...]
    result: Pattern
    names: tuple[ParameterDoc, ...]
    description: str
    accumulator: Callable[..., Accumulator]
    constants: int = 0
    is_variadic: bool = False
    returns: ReturnRule | None = None
    spark: str | NativeRule | None = None
    limit_setting: str | None = None
    is_typed: bool = False

    def new_accumulator(self, result: SqlType, constants: Sequence[object] = ()) -> Accumulator:
        """Create the accumulator of a call whose result has this type."""
        return self.accumulator(result, *constants) if self.is_typed else self.accumulator(*constants)

    def native_form(self, types: Sequence[SqlType | None]) -> str | None:
        """Return the native form for arguments of these types; None where there is none."""
        return self.spark(types) if callable(self.spark) else self.spark


@dataclass(frozen=True, slots=True)
class AggregateFunction:
    name: str
    description: str
    overloads: tuple[AggregateOverload, ...]
    spelling: str
    group: Group = Group.AGGREGATE
    origin: str = ""
