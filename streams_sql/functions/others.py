"""Functions of no other group."""

from __future__ import annotations

import math
from typing import Any, Final

from streams_sql.evaluation.casts import BLANKS
from streams_sql.function_declaration import Group
from streams_sql.functions.registration import scalar

LATITUDE_MAX: Final = 90
LONGITUDE_MAX: Final = 180
_EARTH_RADIUS_KM: Final = 6371.0
_EARTH_RADIUS_MILES: Final = 3959.0
_RADIUS_BY_UNIT: Final = {
    **dict.fromkeys(("mi", "mile", "miles"), _EARTH_RADIUS_MILES),
    **dict.fromkeys(("", "km", "kilometer", "kilometers", "kilometre", "kilometres"), _EARTH_RADIUS_KM),
}


@scalar(
    "AS_VALUE",
    "T -> T",
    group=Group.OTHER,
    doc="Copies a key column into the value of the result.",
    parameters=("keyColumn: the column",),
    takes_null=True,
    spark="{0}",
)
def as_value(value: Any) -> Any:
    return value


@scalar(
    "geo_distance",
    "DOUBLE, DOUBLE, DOUBLE, DOUBLE -> DOUBLE",
    "DOUBLE, DOUBLE, DOUBLE, DOUBLE, STRING -> DOUBLE",
    group=Group.OTHER,
    doc="The distance of two points on the earth along a great circle (Haversine), in kilometres or in miles.",
    parameters=(
        "lat1: latitude of the first point in degrees",
        "lon1: its longitude",
        "lat2: latitude of the second point",
        "lon2: its longitude",
        "units: KM, which is meant if it is left out, or MILES",
    ),
    takes_null=True,
)
def geo_distance(
    latitude: float | None,
    longitude: float | None,
    other_latitude: float | None,
    other_longitude: float | None,
    units: str | None = None,
) -> float | None:
    if latitude is None or longitude is None or other_latitude is None or other_longitude is None:
        return None
    if max(abs(latitude), abs(other_latitude)) > LATITUDE_MAX:
        raise ValueError("Latitudes are between -90 and 90 degrees")
    if max(abs(longitude), abs(other_longitude)) > LONGITUDE_MAX:
        raise ValueError("Longitudes are between -180 and 180 degrees")
    radius = _RADIUS_BY_UNIT.get((units or "").strip(BLANKS).lower())
    if radius is None:
        raise ValueError(f"{units!r} is no unit of distance: use one of {', '.join(filter(None, _RADIUS_BY_UNIT))}")
    across = _haversine(other_longitude - longitude)
    along = _haversine(other_latitude - latitude)
    square = along + across * math.cos(math.radians(latitude)) * math.cos(math.radians(other_latitude))
    return 2 * math.asin(math.sqrt(min(1.0, square))) * radius


def _haversine(degrees: float) -> float:
    return math.sin(math.radians(degrees) / 2) ** 2
