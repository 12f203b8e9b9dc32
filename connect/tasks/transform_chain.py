"""Transforms in the order of the configuration, each with its predicate."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from connect.api.plugin import PluginKind
from connect.api.record import Record
from connect.api.settings import read
from connect.errors import ConnectError
from connect.plugins.catalogue import Plugins
from connect.tasks.clients import given_settings
from connect.tasks.dead_letter_queue import Origin, Stage
from connect.tasks.tolerance import Tolerance
from connect.transforms.transform import Predicate, Transform

logger = logging.getLogger(__name__)


class TransformChain:
    """Applies the transforms to batches. A record that cannot be changed is rejected, and those that are left keep their places."""

    def __init__(self, links: Sequence[Link], tolerance: Tolerance) -> None:
        self._links = links
        self._tolerance = tolerance

    def apply(
        self, records: Sequence[Record], origin_of: Callable[[int], Origin]
    ) -> tuple[Sequence[Record], Sequence[int]]:
        """The changed records, and the place that each had. `origin_of` tells what lay at a place."""
        places: Sequence[int] = range(len(records))
        for link in self._links:
            changed = self._changed(link, records, places, origin_of)
            if None in changed:
                kept = [(record, place) for record, place in zip(changed, places, strict=True) if record is not None]
                records, places = [record for record, _ in kept], [place for _, place in kept]
            else:
                records = [record for record in changed if record is not None]
        return records, places

    def _changed(
        self, link: Link, records: Sequence[Record], places: Sequence[int], origin_of: Callable[[int], Origin]
    ) -> list[Record | None]:
        try:
            return [link.apply(record) for record in records]
        except Exception:
            logger.debug("a transform failed; the records of the batch are tried one by one", exc_info=True)
        changed: list[Record | None] = []
        for record, place in zip(records, places, strict=True):
            try:
                changed.append(link.apply(record))
            except Exception as error:  # noqa: BLE001 - Kafka Connect tolerates every error of a transform
                self._tolerance.reject(origin_of(place), Stage.TRANSFORMATION, link.transform, error)
                changed.append(None)
        return changed


class Link(NamedTuple):
    transform: Transform
    applies: Callable[[Record], bool] | None
    """None: to every record."""

    def apply(self, record: Record) -> Record | None:
        return self.transform.apply(record) if self.applies is None or self.applies(record) else record


def links_of(config: Mapping[str, str], plugins: Plugins) -> tuple[Link, ...]:
    return tuple(_link(alias, config, plugins) for alias in _aliases(config.get("transforms", "")))


def _link(alias: str, config: Mapping[str, str], plugins: Plugins) -> Link:
    own = given_settings(config, f"transforms.{alias}.")
    plugin = plugins.find(_type(own, f"transforms.{alias}"), (PluginKind.TRANSFORMATION,))
    transform = plugin.made_by(read(plugin.settings_type, own))
    predicate_alias = own.get("predicate")
    if predicate_alias is None:
        return Link(transform, None)
    holds = _predicate(predicate_alias, config, plugins).holds
    is_negated = own.get("negate", "false").strip().lower() == "true"
    return Link(transform, (lambda record: not holds(record)) if is_negated else holds)


def _predicate(alias: str, config: Mapping[str, str], plugins: Plugins) -> Predicate:
    if alias not in _aliases(config.get("predicates", "")):
        raise ConnectError(
            f"a transform names the predicate {alias}, which is not among predicates={config.get('predicates', '')}"
        )
    own = given_settings(config, f"predicates.{alias}.")
    plugin = plugins.find(_type(own, f"predicates.{alias}"), (PluginKind.PREDICATE,))
    made: Predicate = plugin.made_by(read(plugin.settings_type, own))
    return made


def _type(own: Mapping[str, str], prefix: str) -> str:
    try:
        return own["type"]
    except KeyError:
        raise ConnectError(f"{prefix}.type is missing: it names the class") from None


def _aliases(text: str) -> list[str]:
    return [alias.strip() for alias in text.split(",") if alias.strip()]
