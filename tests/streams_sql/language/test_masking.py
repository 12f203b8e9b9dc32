"""Statements without what is not to be shown."""

from __future__ import annotations

import pytest

from streams_sql.language.masking import has_secrets, masked


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            """CREATE SOURCE CONNECTOR c WITH ('connector.class'='jdbc', "connection.password" = 'it''s; "hush"', n=1);""",
            """CREATE SOURCE CONNECTOR c WITH ('connector.class'='jdbc', "connection.password" = '[string]', n='[string]');""",
        ),
        ("create  sink\nconnector c with (`a.b`=hush", "create  sink\nconnector c with (`a.b`='[string]'"),
        (
            "SHOW TYPES; CREATE SINK CONNECTOR c WITH (a='hush');",
            "SHOW TYPES; CREATE SINK CONNECTOR c WITH (a='[string]');",
        ),
        ("CREATE STREAM s (a INT) WITH (KAFKA_TOPIC='t');", "CREATE STREAM s (a INT) WITH (KAFKA_TOPIC='t');"),
    ],
)
def test_settings_of_connectors_are_not_shown(text: str, shown: str) -> None:
    assert masked(text) == shown
    assert has_secrets(text) == (shown != text)
