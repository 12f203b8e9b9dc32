"""What the tidy rules let pass, each with its reason. An exemption that nothing needs any more fails the test."""

from __future__ import annotations

# (name of the rule, path) -> reason
EXEMPTIONS: dict[tuple[str, str], str] = {
    ("printing", "tests/chaos/__main__.py"): "a program that people run by hand; it prints what it killed and found",
    ("printing", "tests/soak.py"): "a program that people run by hand; it prints what it found",
    (
        "printing",
        "tests/streams_sql/recomputation/__main__.py",
    ): "a program that people run by hand; it prints what it found",
    (
        "rooms",
        "streams_sql/formats/connect_names.py",
    ): "names of Kafka Connect's in schemas, which look like those of our modules",
}
