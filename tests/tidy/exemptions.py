"""What the tidy rules let pass, each with its reason. An exemption that nothing needs any more fails the test."""

from __future__ import annotations

# (name of the rule, path) -> reason
EXEMPTIONS: dict[tuple[str, str], str] = {
    ("printing", "tests/soak.py"): "a program that people run by hand; it prints what it found",
}
