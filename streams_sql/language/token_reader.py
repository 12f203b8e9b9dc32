"""A cursor over the tokens of one statement that knows which words it looked for in vain."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from typing import Final, NoReturn, TypeVar

from sqlglot.parser import Parser
from sqlglot.tokenizer_core import Token, TokenType

from streams_sql.language.dialect import RESERVED, StreamsSql
from streams_sql.language.words import STRUCTURE_WORDS
from streams_sql.problem import DOUBLE_QUOTE, Lines, Position, SyntaxProblem, shortened

INTEGER_MAX: Final = 2**63 - 1
"""Of a BIGINT."""

_BIGINT_DIGITS_MAX: Final = len(str(INTEGER_MAX)) + 1
"""As many digits as surely are too many."""

NESTING_MAX: Final = 40
"""Levels of parentheses, calls and types, so that the stack suffices."""

NAME: Final = "a name"
EXPRESSION: Final = "an expression"
STRING: Final = "a string"
TYPE: Final = "a type"

_WORD: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_@]*", re.ASCII)
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_@]*", re.ASCII)
_NUMBER: Final = re.compile(r"[0-9]+(\.[0-9]*)?([Ee][+-]?[0-9]+)?", re.ASCII)
_SOURCE_NAME: Final = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
_TOPIC_NAME: Final = re.compile(r"[A-Za-z0-9._-]+", re.ASCII)
_QUOTING: Final = frozenset({TokenType.STRING, TokenType.IDENTIFIER})
_SIMILARITY_MIN: Final = 0.6
_MISSPELT_CHARACTERS_MIN: Final = 3
_WORDS_AHEAD_MAX: Final = 4
"""How far beyond the last token somebody may look."""

T = TypeVar("T")


def bigint(digits: str) -> int | None:
    """The number, or nothing if it does not fit. One of very many digits is not even looked at: int() would not take it."""
    sign, digits = ("-", digits[1:]) if digits.startswith("-") else ("", digits)
    number = int(f"{sign}{digits.lstrip('0')[:_BIGINT_DIGITS_MAX] or 0}")
    return number if -INTEGER_MAX - 1 <= number <= INTEGER_MAX else None


class TokenReader(Parser):
    def __init__(self, text: str) -> None:
        dialect = StreamsSql()
        super().__init__(dialect=dialect)
        self.sql = text
        self.lines = Lines(text)
        self._tokens = dialect.tokenize(text)
        self._tokens_size = len(self._tokens)
        self._missed: list[tuple[str, ...]] = []
        self._missed_at = -1
        self._begun: set[str] = set()
        self._more: list[tuple[int, str]] = []
        self._nesting = 0
        self._advance(0)
        for index, token in enumerate(self._tokens):
            self._check(token, index)
        self._words = ["" if token.token_type in _QUOTING else token.text.upper() for token in self._tokens]
        self._words += [""] * _WORDS_AHEAD_MAX

    def _check(self, token: Token, index: int) -> None:
        if token.token_type is TokenType.VAR:
            if not _WORD.fullmatch(token.text):
                raise self.problem(
                    f"'{shortened(token.text)}' is not a word of the language: quote it if it is a name.",
                    self._position(token),
                )
        elif token.token_type is TokenType.NUMBER:
            following = self._tokens[index + 1] if index + 1 < self._tokens_size else None
            is_torn = (
                following is not None and following.token_type is TokenType.VAR and following.start == token.end + 1
            )
            if is_torn or not _NUMBER.fullmatch(token.text):
                text = self.sql[token.start : (following if following and is_torn else token).end + 1]
                raise self.problem(f"Invalid numeric literal: {shortened(text)}", self._position(token))
        elif token.token_type is TokenType.IDENTIFIER and not token.text:
            raise self.problem("A name must not be empty.", self._position(token))

    # -- where we are -----------------------------------------------------------------------------

    @property
    def position(self) -> Position:
        """Of the next word, or of the end."""
        return self._position(self._curr) if self._curr else self.lines.position(len(self.sql.rstrip()), 1)

    @property
    def last_position(self) -> Position:
        return self._position(self._prev)

    @property
    def last_text(self) -> str:
        """The word before, as it was written."""
        return str(self._prev.text)

    def _position(self, token: Token) -> Position:
        return self.lines.position(token.start, token.end - token.start + 1)

    def word(self, ahead: int = 0) -> str:
        """A word that is not quoted, in upper case, or nothing."""
        return self._words[self._index + ahead]

    @property
    def is_last(self) -> bool:
        """Nothing but a semicolon follows the next word."""
        return not self._next or self._next.token_type is TokenType.SEMICOLON

    # -- going on ---------------------------------------------------------------------------------

    def accept(self, *words: str) -> bool:
        """Take these words or signs if they are next."""
        if self.is_next(*words):
            self._advance(len(words))
            return True
        return False

    def is_next(self, *words: str) -> bool:
        if self._is_at(words):
            return True
        self._miss(*words)
        self._miss_rest(words)
        return False

    def _is_at(self, words: tuple[str, ...]) -> bool:
        index = self._index
        return self._words[index] == words[0] and (
            len(words) == 1 or self._words[index : index + len(words)] == [*words]
        )

    def expect(self, *words: str) -> None:
        for word in words:
            if not self.accept(word):
                raise self.unexpected()

    def accept_one_of(self, *words: str) -> str | None:
        return next((word for word in words if self.accept(word)), None)

    def expect_one_of(self, *words: str) -> str:
        word = self.accept_one_of(*words)
        if word is None:
            raise self.unexpected()
        return word

    def accept_name(self) -> str | None:
        """A name, upper case unless it was quoted."""
        if self._match(TokenType.VAR):
            return self._prev.text.upper()
        if self._match(TokenType.IDENTIFIER):
            return self._prev.text
        self._miss(NAME)
        return None

    def accept_reserved(self) -> str | None:
        """A reserved word, where names are not those of columns and sources."""
        return self._prev.text if self._match(RESERVED) else None

    def name(self) -> str:
        name = self.accept_name()
        if name is None:
            raise self.unexpected()
        return name

    def source_name(self) -> str:
        """Of a stream or table: it becomes part of names of topics, which are not free."""
        position = self.position
        name = self.name()
        if not _SOURCE_NAME.fullmatch(name):
            raise self.problem(
                f"Illegal argument at {position.line}:{position.column}. Source names may only contain alphanumeric values, "
                f"'_' or '-'. Got: '{shortened(name)}'",
                position,
            )
        return name

    def relation_name(self) -> tuple[str, str | None]:
        """Of what a query reads: a stream, a table or a topic; and the word as it was written, if it was not quoted."""
        position = self.position
        is_quoted = self._curr.token_type is TokenType.IDENTIFIER
        name = self.name()
        written = self._prev.text
        if not (_TOPIC_NAME if is_quoted else _SOURCE_NAME).fullmatch(name):
            raise self.problem(
                f"Illegal argument at {position.line}:{position.column}. Source names may only contain alphanumeric values, "
                f"'_' or '-', and those of topics '.'. Got: '{shortened(name)}'",
                position,
            )
        if not is_quoted and self._curr.token_type is TokenType.DOT:
            raise self.problem(f"Quote the name of a topic that has a '.': `{written}.…`.", position)
        return name, None if is_quoted else written

    def written_word(self) -> str:
        """A name in the case in which it was written."""
        if not self._match_set((TokenType.VAR, TokenType.IDENTIFIER)):
            raise self.missing(NAME)
        return self._prev.text

    def variable_name(self) -> str:
        """A word as it was written; reserved ones are as good as others."""
        if self._curr.token_type in _QUOTING or not _VARIABLE.fullmatch(self._curr.text):
            raise self.missing(NAME)
        self._advance()
        return self._prev.text

    def accept_string(self) -> str | None:
        if self._match(TokenType.STRING):
            return self._prev.text
        self._miss(STRING)
        return None

    def string(self) -> str:
        text = self.accept_string()
        if text is None:
            raise self.unexpected()
        return text

    def integer(self, purpose: str) -> int:
        """A number that is neither broken nor negative."""
        position = self.position
        is_negative = self._match(TokenType.DASH)
        if not self._match(TokenType.NUMBER):
            raise self.missing("a number")
        text = self._prev.text
        number = bigint(text) if text.isdigit() else None
        if is_negative or number is None:
            raise self.problem(
                f"{purpose} must be an integer that is not negative. Got: {'-' * is_negative}{shortened(text)}",
                position,
            )
        return number

    def listed(self, read: Callable[[], T]) -> list[T]:
        """One or more with commas between them."""
        items = [read()]
        while self.accept(","):
            items.append(read())
        return items

    def in_parentheses(self, read: Callable[[], T]) -> list[T]:
        self.expect("(")
        items = self.listed(read)
        self.expect(")")
        return items

    def nested(self, read: Callable[[], T]) -> T:
        """Read what may have its like inside."""
        self._nesting += 1
        if self._nesting > NESTING_MAX:
            raise self.problem(f"The statement is nested more than {NESTING_MAX} levels deep here.")
        item = read()
        self._nesting -= 1
        return item

    def finish(self) -> None:
        self._match(TokenType.SEMICOLON)
        if self._curr:
            raise self.missing("the end of the statement")

    # -- what is wrong ----------------------------------------------------------------------------

    def _miss(self, *what: str) -> None:
        if self._missed_at != self._index:
            self._missed_at = self._index
            self._missed = []
        self._missed.append(what)

    def _miss_rest(self, words: tuple[str, ...]) -> None:
        """Of several words, some may be there, and the text ends behind them."""
        there = self._tokens_size - self._index
        if 0 < there < len(words) and self._is_at(words[:there]):
            self._begun.add(words[there])

    def also(self, *words: str) -> None:
        """What may stand here and is not told of in messages, which would be about little else."""
        self._more.extend((self._index, word) for word in words)

    def begun_at_end(self) -> frozenset[str]:
        """Words that go on with the last ones, where these begin what was looked for and may not be names."""
        return frozenset(self._begun)

    def missed_at_end(self) -> list[tuple[str, ...]] | None:
        """What was looked for behind the last word, each a word or several; None where reading has not come so far."""
        if self._curr:
            return None
        missed = self._missed if self._missed_at == self._index else []
        return list(dict.fromkeys([*missed, *((word,) for index, word in self._more if index == self._index)]))

    def missing(self, what: str) -> SyntaxProblem:
        self._miss(what)
        return self.unexpected()

    def problem(self, message: str, position: Position | None = None) -> SyntaxProblem:
        return SyntaxProblem(message, position or self.position)

    def not_supported(self, what: str) -> SyntaxProblem:
        return self.problem(f"{what} is not supported yet.")

    def refuse(self, verb: str, *phrases: str) -> None:
        """What other versions of the language have after this verb."""
        for phrase in phrases:
            if self._is_at(tuple(phrase.split())):
                raise self.not_supported(f"{verb} {phrase}".strip(" ("))

    def unexpected(self) -> SyntaxProblem:
        """What stands here, what was looked for instead, and which of that may be meant."""
        expected = [" ".join(words) for words in dict.fromkeys(self._missed)] if self._missed_at == self._index else []
        found = (
            f"'{shortened(self.sql[self._curr.start : self._curr.end + 1])}'" if self._curr else "end of the statement"
        )
        message = f"Syntax Error: Unexpected {found}."
        if expected:
            message += f" Expected {_alternatives(expected)}."
        for token in (self._curr, self._prev):
            meant = self._meant(token, expected)
            if meant:
                return self.problem(f"{message} Did you mean {meant} instead of {token.text}?", self._position(token))
        if self._is_reserved_name(expected):
            message += f" {self._curr.text.upper()} is a reserved word: to use it as a name, write `{self._curr.text.upper()}`."
        if STRING in expected and self._curr and self.lines.is_at(self._curr.start, DOUBLE_QUOTE):
            message += f" Double quotes stand around names; a string is written '{shortened(self._curr.text)}'."
        return self.problem(message)

    def _is_reserved_name(self, expected: list[str]) -> bool:
        """Whether a word that is no name may have been meant as one. In place of an expression, some words tell rather that it was left out."""
        if not self._curr or self._curr.token_type is not RESERVED:
            return False
        return NAME in expected or (EXPRESSION in expected and self._curr.text.upper() not in STRUCTURE_WORDS)

    def _meant(self, token: Token, expected: list[str]) -> str | None:
        """The word looked for that is much like this one. A misspelt word before this one was taken for an alias."""
        if token.token_type is not TokenType.VAR or len(token.text) < _MISSPELT_CHARACTERS_MIN:
            return None
        words = {phrase.split()[0]: phrase for phrase in expected if phrase.isupper()}
        nearest = difflib.get_close_matches(token.text.upper(), words, 1, _SIMILARITY_MIN)
        return words[nearest[0]] if nearest else None

    def raise_error(self, message: str, token: Token | None = None) -> NoReturn:
        """The tree that sqlglot was about to make is not whole."""
        raise self.missing(EXPRESSION)


def _alternatives(expected: list[str]) -> str:
    words = [word if word[-1].isalpha() else f"'{word}'" for word in expected]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
