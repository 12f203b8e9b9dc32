"""Whether a single column stands alone or in a record of its own."""

from __future__ import annotations

from streams_sql.formats.capabilities import CAPABILITIES
from streams_sql.formats.serde import Layout


def is_wrapped(layout: Layout) -> bool:
    """Single keys stand alone wherever their format can do that; single values only on demand, or if the format knows no records."""
    if len(layout.columns) != 1:
        return True
    if layout.format.is_wrapped is not None:
        return layout.format.is_wrapped
    can = CAPABILITIES[layout.format.name]
    return can.can_wrap and not (layout.is_key and can.can_unwrap)
