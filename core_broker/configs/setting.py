"""What a Kafka configuration is here: its declaration, whether it can change at run time, and what setting it does on one node."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from barnabas.kernel.setting_errors import SettingError
from barnabas.kernel.settings import Setting, Value


class Effect(Enum):
    """What happens when somebody sets a configuration to something else than its default."""

    ACTS = "acts"
    """The broker behaves accordingly."""
    INERT = "inert"
    """It is taken, kept and shown, and changes nothing: harmless, since it has nothing to act on here."""
    REFUSED = "refused"
    """Only the default is taken: another value would promise something that this broker does not do."""


class UpdateMode(Enum):
    """How a broker configuration can change while the broker runs, in Kafka's words."""

    READ_ONLY = "read-only"
    PER_BROKER = "per-broker"
    CLUSTER_WIDE = "cluster-wide"


# Returns what is wrong with a value, or None.
Check = Callable[[Value], str | None]


@dataclass(frozen=True, slots=True)
class KafkaSetting(Setting):
    """A setting of Kafka's, or one of ours beside them.

    `why` says why it is inert or refused. `also` is one more number that is valid outside minimum and maximum. `internal` settings
    are taken from files but not listed by DescribeConfigs.
    """

    effect: Effect = Effect.ACTS
    why: str = ""
    also: int | None = None
    check: Check | None = None
    internal: bool = False

    def parse(self, text: str) -> Value:
        value = self._convert(text.strip())
        if self.also is None or value != self.also:
            self._check(value, text.strip())
        if self.effect is Effect.REFUSED and value != self.default_value():
            raise self._wrong(text, f"refused: {self.why}")
        if self.check is not None and (complaint := self.check(value)) is not None:
            raise self._wrong(text, complaint)
        return value

    def read(self, text: str) -> Value:
        """The typed value of a text that was taken before: what it means, not whether it is allowed."""
        return self._convert(text.strip())

    def _wrong(self, text: str, reason: str) -> SettingError:
        return self._refusal(text.strip(), reason)


@dataclass(frozen=True, slots=True)
class BrokerSetting(KafkaSetting):
    """A configuration of the broker."""

    mode: UpdateMode = UpdateMode.READ_ONLY


@dataclass(frozen=True, slots=True)
class Synonym:
    """A broker setting that gives a topic configuration its value; `factor` turns its unit into the topic's."""

    name: str
    factor: int = 1


@dataclass(frozen=True, slots=True)
class TopicSetting(KafkaSetting):
    """A configuration of a topic, with the broker settings that stand in for it, the strongest first."""

    synonyms: tuple[Synonym, ...] = ()


@dataclass(frozen=True, slots=True)
class GroupSetting(KafkaSetting):
    """A configuration of one group, with the broker setting that stands in for it."""

    synonym: str | None = None
