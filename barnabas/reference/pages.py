"""All pages that are made from declarations, by the names of their files."""

from __future__ import annotations

from collections.abc import Mapping

from barnabas.reference import setting_pages
from barnabas.reference.command_page import command_page
from barnabas.reference.limit_page import limit_page
from barnabas.reference.metric_page import metric_page
from barnabas.reference.tool_page import tool_page
from connect import reference_page as connectors
from streams_sql.functions import reference_page as functions
from streams_sql.functions.library import LIBRARY


def pages() -> Mapping[str, str]:
    return {
        "command.md": command_page(),
        "connectors.md": connectors.page(),
        "kafka-tools.md": tool_page(),
        "limits.md": limit_page(),
        "metrics.md": metric_page(),
        **setting_pages.pages(),
        "sql-functions.md": functions.page(LIBRARY),
    }
