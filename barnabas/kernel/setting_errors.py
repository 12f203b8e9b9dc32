"""Several settings that cannot be taken, told at once, so that nobody mends one only to be told of the next."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from barnabas.kernel.settings import SettingError


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
