"""Functions of real numbers. They never fail: what has no value is NaN, what is too large infinite."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from streams_sql.function_declaration import Group
from streams_sql.functions.registration import scalar

_OF_ONE: Final = ("INTEGER -> DOUBLE", "BIGINT -> DOUBLE", "DOUBLE -> DOUBLE")
_OF_TWO: Final = ("INTEGER, INTEGER -> DOUBLE", "BIGINT, BIGINT -> DOUBLE", "DOUBLE, DOUBLE -> DOUBLE")


@dataclass(frozen=True, slots=True)
class RealFunction:
    """A function of Python's math module with Java's answers where Python raises an error."""

    function: Callable[[float], float]

    def __call__(self, value: float) -> float:
        try:
            return self.function(value)
        except ValueError:
            return math.nan
        except OverflowError:
            # sinh alone is below zero there; the others are even or grow.
            return -math.inf if self.function is math.sinh and value < 0 else math.inf


def cube_root(value: float) -> float:
    """To the last digit, as Java's is; C's is often the next one, so that one exact step of Newton's goes behind it."""
    root = math.cbrt(value)
    if root == 0 or not math.isfinite(root):
        return root
    return root - float(Fraction(root) ** 3 - Fraction(value)) / (3 * root * root)


_REAL_FUNCTIONS: Final = (
    ("acos", math.acos, "The inverse (arc) cosine of a value, in radians."),
    ("asin", math.asin, "The inverse (arc) sine of a value, in radians."),
    ("atan", math.atan, "The inverse (arc) tangent of a value, in radians."),
    ("cbrt", cube_root, "The cube root of a value."),
    ("cos", math.cos, "The cosine of a value in radians."),
    ("cosh", math.cosh, "The hyperbolic cosine of a value in radians."),
    ("degrees", math.degrees, "Converts radians to degrees."),
    ("exp", math.exp, "Euler's number e raised to the power of a value."),
    ("radians", math.radians, "Converts degrees to radians."),
    ("sin", math.sin, "The sine of a value in radians."),
    ("sinh", math.sinh, "The hyperbolic sine of a value in radians."),
    ("sqrt", math.sqrt, "The square root of a value."),
    ("tan", math.tan, "The tangent of a value in radians."),
    ("tanh", math.tanh, "The hyperbolic tangent of a value in radians."),
)

for _name, _function, _doc in _REAL_FUNCTIONS:
    scalar(
        _name,
        *_OF_ONE,
        group=Group.MATH,
        doc=_doc,
        parameters=("exponent" if _name == "exp" else "value",),
        spark=f"{_name}({{0}})",
    )(RealFunction(_function))


@scalar(
    "atan2",
    *_OF_TWO,
    group=Group.MATH,
    doc="The inverse (arc) tangent of y / x: the angle of the point (x, y), in radians.",
    parameters=("y: the ordinate", "x: the abscissa"),
    spark="atan2({0}, {1})",
)
def atan2(y: float, x: float) -> float:
    return math.atan2(y, x)


@scalar("cot", *_OF_ONE, group=Group.MATH, doc="The cotangent of a value in radians.", parameters=("value",))
def cot(value: float) -> float:
    tangent = math.nan if math.isinf(value) else math.tan(value)
    return 1 / tangent if tangent else math.copysign(math.inf, tangent)


@scalar(
    "ln",
    *_OF_ONE,
    group=Group.MATH,
    doc="The natural logarithm of a value.",
    parameters=("value",),
    spark="CASE WHEN {0} < 0 THEN double('NaN') WHEN {0} = 0 THEN double('-Infinity') ELSE ln({0}) END",
)
@scalar(
    "log",
    *_OF_ONE,
    group=Group.MATH,
    doc="The natural logarithm of a value, or with two arguments the logarithm to a base.",
    parameters=("value",),
    spark="CASE WHEN {0} < 0 THEN double('NaN') WHEN {0} = 0 THEN double('-Infinity') ELSE ln({0}) END",
)
def natural_logarithm(value: float) -> float:
    if value > 0:
        return math.log(value)
    return -math.inf if value == 0 else math.nan


@scalar(
    "log",
    *_OF_TWO,
    group=Group.MATH,
    doc="The logarithm of a value to a base.",
    parameters=("base: the base of the logarithm", "value"),
)
def logarithm(base: float, value: float) -> float:
    if base <= 0 or base == 1:
        return math.nan
    return natural_logarithm(value) / natural_logarithm(base)


@scalar("pi", "-> DOUBLE", group=Group.MATH, doc="An approximate value of pi.", spark="pi()")
def pi() -> float:
    return math.pi


@scalar(
    "power",
    *_OF_TWO,
    group=Group.MATH,
    doc="The base raised to the exponent.",
    parameters=("base", "exponent"),
    spark="power({0}, {1})",
)
def power(base: float, exponent: float) -> float:
    if exponent != exponent or (math.isinf(exponent) and abs(base) == 1):
        return math.nan
    is_odd = math.fmod(exponent, 2) != 0 if math.isfinite(exponent) and exponent == math.floor(exponent) else False
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return -math.inf if base < 0 and is_odd else math.inf
    except ValueError:
        if base != 0:
            return math.nan
        return math.copysign(math.inf, base) if is_odd else math.inf


@scalar(
    "random",
    "-> DOUBLE",
    group=Group.MATH,
    doc="A random number greater than or equal to 0.0 and less than 1.0.",
    is_deterministic=False,
)
def random_number() -> float:
    return random.random()
