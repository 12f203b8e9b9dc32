"""A YAML file whose every value knows its line, with variables of the environment put in."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from barnabas.cli.command_error import CommandError

if TYPE_CHECKING:
    from yaml.nodes import Node

T = TypeVar("T")

FILE_BYTES_MAX: Final = 4 * 1024 * 1024
VALUES_MAX: Final = 100_000
"""In one value that is taken as it is: aliases of aliases would grow without end."""
DEPTH_MAX: Final = 100

_VARIABLE: Final = re.compile(
    r"\$(?P<escaped>\$)(?=\{)|\$\{(?P<name>[A-Za-z_]\w*)(?::-(?P<default>[^}]*))?\}", re.ASCII
)
_BOOL: Final = "tag:yaml.org,2002:bool"
_INT: Final = "tag:yaml.org,2002:int"
_FLOAT: Final = "tag:yaml.org,2002:float"
_NULL: Final = "tag:yaml.org,2002:null"
_TRUE: Final = ("yes", "true", "on")
_FALSE: Final = ("no", "false", "off")


class FileProblem(CommandError):
    """Something in a file is wrong, at a line."""

    def __init__(self, path: Path, line: int, message: str, hint: str = "") -> None:
        super().__init__(f"{path}:{line}: {message}", hint)


class Mistakes:
    """What is wrong with a file: it is read to its end, so that all mistakes are reported at once."""

    def __init__(self) -> None:
        self._found: list[CommandError] = []

    def note(self, mistake: CommandError) -> None:
        self._found.append(mistake)

    @contextmanager
    def noted(self) -> Iterator[None]:
        """What goes wrong within is noted, and the reading goes on behind it."""
        try:
            yield
        except CommandError as mistake:
            self.note(mistake)

    def report(self) -> None:
        """CommandError with all of them, if there are some."""
        if self._found:
            raise CommandError("\n".join(map(str, self._found)))


def read_text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(FILE_BYTES_MAX + 1)
        if len(content) > FILE_BYTES_MAX:
            raise CommandError(
                f"{path} has more than {FILE_BYTES_MAX} bytes", "Move SQL and schemas to files of their own."
            )
        return content.decode("utf-8")
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}", "Name a file that can be read.") from None
    except UnicodeDecodeError:
        raise CommandError(f"{path} is not a text in UTF-8") from None


def substituted(text: str, variables: Mapping[str, str], path: Path, line: int) -> str:
    """`${NAME}` and `${NAME:-default}` from the variables; `$${` is `${`. What has a colon otherwise is a reference of a config provider.
    CommandError with all that are not set."""
    mistakes = Mistakes()

    def value(found: re.Match[str]) -> str:
        if found["escaped"]:
            return "$"
        known = variables.get(found["name"])
        default = found["default"]
        if default is not None:
            return known or default
        if known is None:
            place = line + text.count("\n", 0, found.start())
            hint = f"Set it, write ${{{found['name']}:-default}}, or $${{{found['name']}}} if that is meant to stay as it is."
            mistakes.note(FileProblem(path, place, f"the variable {found['name']} is not set", hint))
        return known or ""

    done = _VARIABLE.sub(value, text)
    mistakes.report()
    return done


@dataclass(frozen=True, slots=True)
class Value:
    """One value of the file. `mistakes` are those of the whole file."""

    node: Node
    path: Path
    variables: Mapping[str, str]
    mistakes: Mistakes = field(default_factory=Mistakes, compare=False)

    @classmethod
    def load(cls, path: Path, variables: Mapping[str, str]) -> Value:
        try:
            import yaml
        except ImportError:
            raise CommandError(
                "`barnabas apply` reads YAML, and PyYAML is missing", "Install it: pip install 'barnabas[apply]'"
            ) from None
        try:
            node = yaml.compose(read_text(path), Loader=yaml.SafeLoader)
        except yaml.MarkedYAMLError as error:
            line = error.problem_mark.line + 1 if error.problem_mark else 1
            raise FileProblem(path, line, f"this is no YAML: {error.problem or error}") from None
        except (yaml.YAMLError, RecursionError) as error:
            raise CommandError(f"{path} is no YAML: {error}") from None
        if node is None:
            raise CommandError(f"{path} is empty")
        return cls(node, path, variables)

    @property
    def line(self) -> int:
        return int(self.node.start_mark.line) + 1

    def problem(self, message: str, hint: str = "") -> FileProblem:
        return FileProblem(self.path, self.line, message, hint)

    def members(self, what: str, known: Collection[str] | None = None) -> dict[str, Value]:
        """The members of a mapping; those that are not `known` are mistakes, if something is, and are left out."""
        from yaml.nodes import MappingNode, ScalarNode

        if not isinstance(self.node, MappingNode):
            raise self.problem(f"{what} must be a mapping, such as\n    name: value")
        found: dict[str, Value] = {}
        for key_node, node in self._pairs():
            key_value, value = self._of(key_node), self._of(node)
            with self.mistakes.noted():
                if not isinstance(key_node, ScalarNode):
                    raise key_value.problem(f"a name in {what} must be a text")
                name, _ = key_value._scalar("a name")
                if known is not None and name not in known:
                    raise key_value.problem(f"{what} has no {name!r}", nearest(name, known))
                if name in found:
                    raise key_value.problem(f"{name!r} stands twice in {what}; the first is in line {found[name].line}")
                found[name] = value
        return found

    def items(self, what: str) -> list[Value]:
        from yaml.nodes import SequenceNode

        if not isinstance(self.node, SequenceNode):
            raise self.problem(f"{what} must be a list, such as\n    - value")
        return [self._of(node) for node in self.node.value]

    @property
    def is_text(self) -> bool:
        from yaml.nodes import ScalarNode

        return isinstance(self.node, ScalarNode)

    @property
    def is_mapping(self) -> bool:
        from yaml.nodes import MappingNode

        return isinstance(self.node, MappingNode)

    def text(self, what: str) -> str:
        """As it is written: numbers and dates are no others than what was typed; of truth there is one spelling."""
        text, tag = self._scalar(what)
        if tag == _NULL:
            raise self.problem(f"{what} has no value", "Write '' for the empty text.")
        if tag == _BOOL:
            return "true" if text.lower() in _TRUE else "false"
        return text

    def whole(self, what: str, least: int, most: int) -> int:
        """In quotes, too: `{partitions: '${N}'}` can be written in no other way."""
        text, _ = self._scalar(what)
        if not (text.isascii() and text.isdecimal()) or not least <= int(text) <= most:
            raise self.problem(f"{what} must be a number from {least} to {most}, not {text!r}")
        return int(text)

    def truth(self, what: str) -> bool:
        text, _ = self._scalar(what)
        if text.lower() not in (*_TRUE, *_FALSE):
            raise self.problem(f"{what} must be true or false, not {text!r}")
        return text.lower() in _TRUE

    def choice(self, what: str, allowed: Collection[str]) -> str:
        text = self.text(what).upper()
        if text not in allowed:
            raise self.problem(f"{what} {text!r} is none of {', '.join(allowed)}", nearest(text, allowed))
        return text

    @property
    def block_line(self) -> int:
        """The line in which the text itself begins: that after `|`."""
        is_block = getattr(self.node, "style", None) in ("|", ">")
        return self.line + 1 if is_block else self.line

    @property
    def margin(self) -> int | None:
        """How many columns of the file stand before each line of the text; None where its lines are not as the file has them."""
        from yaml.nodes import ScalarNode

        node, mark = self.node, self.node.start_mark
        if not isinstance(node, ScalarNode) or mark.buffer is None or "${" in node.value:
            return None
        if node.style == "|":
            lines = zip(mark.buffer[mark.pointer :].splitlines()[1:], node.value.splitlines(), strict=False)
            return next((len(line) - len(own) for line, own in lines if own.strip() and line.endswith(own)), None)
        quotes = 0 if node.style is None else 1
        is_as_written = mark.buffer.startswith(node.value, mark.pointer + quotes)
        return mark.column + quotes if is_as_written and "\n" not in node.value else None

    def plain(self) -> Any:
        """As JSON has it."""
        count = [0]
        return self._plain(count, 0)

    def _plain(self, count: list[int], depth: int) -> Any:
        from yaml.nodes import MappingNode, SequenceNode

        count[0] += 1
        if count[0] > VALUES_MAX or depth > DEPTH_MAX:
            raise self.problem(f"this has more than {VALUES_MAX} values, or more than {DEPTH_MAX} within each other")
        if isinstance(self.node, MappingNode):
            return {name: value._plain(count, depth + 1) for name, value in self.members("the mapping").items()}
        if isinstance(self.node, SequenceNode):
            return [value._plain(count, depth + 1) for value in self.items("the list")]
        text, tag = self._scalar("the value")
        if tag == _NULL:
            return None
        if tag == _BOOL:
            return text.lower() in _TRUE
        if tag in (_INT, _FLOAT):
            try:
                return int(text) if tag == _INT else float(text)
            except ValueError:
                return text
        return text

    def _pairs(self) -> Iterator[tuple[Node, Node]]:
        """With what `<<` merges in; names that stand here win."""
        from yaml import SafeLoader
        from yaml.nodes import MappingNode

        assert isinstance(self.node, MappingNode)
        own = [(key, node) for key, node in self.node.value if key.tag != "tag:yaml.org,2002:merge"]
        if len(own) == len(self.node.value):
            yield from own
            return
        names = {key.value for key, _ in own}
        try:
            SafeLoader("").flatten_mapping(self.node)
        except Exception as error:  # noqa: BLE001 - PyYAML's own words for a merge that makes no sense, of whatever class
            raise self.problem(f"this cannot be merged: {getattr(error, 'problem', None) or error}") from None
        merged = {key.value: (key, node) for key, node in self.node.value if key.value not in names}
        yield from [*merged.values(), *own]

    def _scalar(self, what: str) -> tuple[str, str]:
        """The text with its variables, and YAML's tag of it."""
        from yaml import SafeLoader
        from yaml.nodes import ScalarNode

        if not isinstance(self.node, ScalarNode):
            raise self.problem(f"{what} must be one value, not a {'mapping' if self.is_mapping else 'list'}")
        if "${" not in self.node.value:
            return self.node.value, self.node.tag
        text = substituted(self.node.value, self.variables, self.path, self.block_line)
        if self.node.style is not None:
            return text, self.node.tag
        # What a variable puts in without quotes may be a number.
        tag: str = SafeLoader("").resolve(ScalarNode, text, (True, False))  # type: ignore[no-untyped-call]
        return text, tag

    def _of(self, node: Node) -> Value:
        return Value(node, self.path, self.variables, self.mistakes)


def optional(value: Value | None, read: Callable[[Value], T]) -> T | None:
    """What is read of a value; None where there is none, or where it is wrong, which is noted."""
    found = None
    if value is not None:
        with value.mistakes.noted():
            found = read(value)
    return found


def nearest(name: str, known: Collection[str]) -> str:
    found = difflib.get_close_matches(name, known, 1)
    return f"Did you mean {found[0]!r}?" if found else f"There are {', '.join(known)}."
