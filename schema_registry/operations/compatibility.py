"""Whether a schema may follow those before it, and why not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from schema_registry.config import Level
from schema_registry.formats.difference import Difference, Policy, Roles
from schema_registry.formats.parsed_schema import ParsedSchema
from schema_registry.operations.comparisons import Comparisons
from schema_registry.operations.lookup import Understood
from schema_registry.parsing import Parser
from schema_registry.schema import Schema
from schema_registry.scopes import Scopes
from schema_registry.state.version import Version

OLD_SCHEMA_MAX_CHARACTERS = 10 * 1024
"""How much of an old schema is quoted in a message."""

RESERVED_PROPERTY = "confluent:reserved"
"""A metadata property that lists names which no field may have any more."""

DIFFERENT_TYPE = "Incompatible because of different schema type"

_NEW_READS_OLD = Roles("new", "old")
_OLD_READS_NEW = Roles("old", "new")


@dataclass(frozen=True, slots=True)
class Finding:
    """One difference, the old version that it was found with, and which of the two schemas reads."""

    difference: Difference
    version: int
    roles: Roles

    def to_json(self) -> dict[str, object]:
        difference = self.difference
        by_role = {self.roles.reader: difference.reader, self.roles.writer: difference.writer}
        return {
            "path": difference.path,
            "rule": difference.rule,
            "old": by_role["old"],
            "new": by_role["new"],
            "why": difference.why,
            "fix": difference.fix,
            "version": self.version,
            "direction": "BACKWARD" if self.roles == _NEW_READS_OLD else "FORWARD",
        }


@dataclass(slots=True)
class Report:
    """What a check found: Confluent's messages, and the same for programs. Empty when the schema may follow."""

    messages: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    @property
    def compatible(self) -> bool:
        return not self.messages


class Compatibility:
    """Compares schemas with versions before them as the configuration of their subject wants it."""

    def __init__(self, scopes: Scopes, parser: Parser) -> None:
        self._scopes = scopes
        self._parser = parser
        self._comparisons = Comparisons(parser.turns)

    async def prepare(self, subject: str, understood: Understood, previous: Sequence[Version]) -> None:
        """Make the comparisons that `check` needs, without holding up everybody else."""
        level, policy = self._terms(subject)
        for version in self._compared(subject, understood, previous):
            if version.schema.schema_type != understood.schema.schema_type:
                return
            old, new = self._parser.stored(version), understood.parsed
            if level.forward:
                await self._comparisons.prepare(old, new, policy, _OLD_READS_NEW)
            if level.backward:
                await self._comparisons.prepare(new, old, policy, _NEW_READS_OLD)

    def check(self, subject: str, understood: Understood, previous: Sequence[Version]) -> Report:
        """Compare a schema with versions of its subject (living ones, oldest first)."""
        report = Report()
        level, policy = self._terms(subject)
        validates_fields = self._scopes.validates_fields(subject)
        if validates_fields:
            report.messages += _reserved_fields(understood, previous)
        for version in self._compared(subject, understood, previous):
            self._compare(understood, version, level, policy, report)
            if report.messages:
                break
        if report.messages:
            validates = "true" if validates_fields else "false"
            report.messages.append(f"{{validateFields: '{validates}', compatibility: '{level.value}'}}")
        return report

    def _terms(self, subject: str) -> tuple[Level, Policy]:
        config = self._scopes.config(subject)
        return Level(config.level), Policy.LENIENT if config.policy == Policy.LENIENT.value else Policy.STRICT

    def _compared(self, subject: str, understood: Understood, previous: Sequence[Version]) -> Sequence[Version]:
        """Those of some versions that the configuration compares a schema with, newest first."""
        config = self._scopes.config(subject)
        level = Level(config.level)
        if level is Level.NONE:
            return []
        if config.group is not None:
            value = _property(understood.schema, config.group)
            previous = [version for version in previous if _property(version.schema, config.group) == value]
        return list(reversed(previous if level.transitive else previous[-1:]))

    def _compare(self, understood: Understood, version: Version, level: Level, policy: Policy, report: Report) -> None:
        """Add what is wrong between a schema and one version before it."""
        if version.schema.schema_type != understood.schema.schema_type:
            report.messages.append(DIFFERENT_TYPE)
            return
        old, new = self._parser.stored(version), understood.parsed
        if level.forward:
            differences = self._comparisons.differences(old, new, policy, _OLD_READS_NEW)
            self._add(report, version, _OLD_READS_NEW, differences)
            if not level.backward and report.findings:
                report.messages += _quoted(version, old)
        if level.backward:
            differences = self._comparisons.differences(new, old, policy, _NEW_READS_OLD)
            self._add(report, version, _NEW_READS_OLD, differences)
            if differences:
                report.messages += _quoted(version, old)

    @staticmethod
    def _add(report: Report, version: Version, roles: Roles, differences: Sequence[Difference]) -> None:
        report.findings += [Finding(difference, version.number, roles) for difference in differences]
        report.messages += [difference.message for difference in differences]


def _quoted(version: Version, old: ParsedSchema) -> list[str]:
    text = old.canonical
    quoted = (
        f"{{oldSchema: '{text}'}}"
        if len(text) <= OLD_SCHEMA_MAX_CHARACTERS
        else f"{{oldSchema: <truncated> '{text[:OLD_SCHEMA_MAX_CHARACTERS]}...'}}"
    )
    return [f"{{oldSchemaVersion: {version.number}}}", quoted]


def _reserved_fields(understood: Understood, previous: Sequence[Version]) -> list[str]:
    reserved = _reserved(understood.schema)
    before = _reserved(previous[-1].schema) if previous else set()
    removed = [
        f"The new schema has reserved field {name} removed from its metadata which is present in the old schema's"
        " metadata."
        for name in sorted(before - reserved)
    ]
    used = [
        f"The new schema has field that conflicts with the reserved field {name}."
        for name in sorted(reserved & understood.parsed.field_names)
    ]
    return removed + used


def _reserved(schema: Schema) -> set[str]:
    return {name.strip() for name in (_property(schema, RESERVED_PROPERTY) or "").split(",") if name.strip()}


def _property(schema: Schema, name: str) -> str | None:
    return None if schema.metadata is None else schema.metadata.properties.get(name)
