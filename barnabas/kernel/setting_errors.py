"""Settings that cannot be taken. Several are told at once, so that nobody mends one only to be told of the next."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


class SettingError(ValueError):
    """A setting that cannot be taken: its name, its value, why, and where it stands."""

    def __init__(self, name: str, value: str | None, reason: str, place: str = "") -> None:
        self.name = name
        self.value = value
        self.reason = reason
        self.place = place
        subject = name if value is None else f"{name}={value}"
        super().__init__(f"{place}: {subject}: {reason}" if place else f"{subject}: {reason}")
        self.each: tuple[SettingError, ...] = (self,)  # or those that it tells together


class SettingErrors(SettingError):
    """Name, value, reason and place are those of the first."""

    def __init__(self, errors: Sequence[SettingError]) -> None:
        first = errors[0]
        super().__init__(first.name, first.value, first.reason, first.place)
        self.args = ("\n  ".join([f"{len(errors)} settings cannot be taken", *map(str, errors)]),)
        self.each = tuple(errors)


def refuse(errors: Iterable[SettingError]) -> None:
    """Raise what was found, if anything was. Services that read the same flags find the same mistake, which is told once."""
    found: dict[tuple[str, str, str | None], SettingError] = {}
    for error in errors:
        found.setdefault((error.place, error.name, error.value), error)
    if found:
        raise SettingErrors(list(found.values())) if len(found) > 1 else next(iter(found.values()))
