"""What statements are read from: words, names, and whole expressions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from streams_sql.language.conversion import Conversion
from streams_sql.language.dialect import RESERVED
from streams_sql.language.expression_grammar import ExpressionGrammar
from streams_sql.language.expressions import ColumnName, Expression, Literal
from streams_sql.language.statements import Query, Relation, SelectAll, SelectColumn, SelectItem

_PRIMARIES: Final = (exp.Column, exp.Dot, exp.Bracket, exp.Anonymous, exp.Paren, exp.Struct, exp.Cast, exp.Case)
"""What may stand before ->*."""

_LATER: Final = ("INTERSECT SELECT", "EXCEPT SELECT", "OVER (")


_RANGE_WORDS: Final = {"SINCE": ("OFFSET", "TIMESTAMP", "BEGINNING"), "UNTIL": ("OFFSET", "TIMESTAMP"), "AS": ("OF",)}
"""Words that begin a part of a range, and those that tell that they do."""


_CLAUSES: Final = (
    ("PARTITION", "BY"),
    ("ORDER", "BY"),
    ("UNION", "ALL"),
    ("UNION", "DISTINCT"),
    ("UNION", "SELECT"),
)
"""Clauses whose first words are not reserved."""


class Reader(ExpressionGrammar):
    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._conversion = Conversion(self.lines)
        self.common: Mapping[str, Relation] = {}
        """The queries that WITH has given names to, where reading has come to."""

    def inner_query(self) -> Query:
        # Queries are read with what is in this module.
        from streams_sql.language.queries import read_value_query

        return read_value_query(self)

    def condition(self) -> Expression:
        """Any expression."""
        return self._conversion.expression(self._parse_disjunction())

    def value(self) -> Expression:
        """An expression that is no predicate unless it stands in parentheses."""
        return self._conversion.expression(self._parse_bitwise())

    def values(self) -> tuple[Expression, ...]:
        """Several of them, which may stand in parentheses together."""
        nodes = self.listed(self._parse_bitwise)
        if len(nodes) == 1 and isinstance(nodes[0], exp.Tuple):
            nodes = nodes[0].expressions
        if not nodes:
            raise self.missing("at least one expression")
        return self._conversion.all(nodes)

    def literal(self) -> Literal:
        position = self.position
        literal = None if self.word() == "(" else self._conversion.expression(self._parse_unary())
        if not isinstance(literal, Literal):
            is_text = isinstance(literal, ColumnName) and literal.is_like_text
            hint = f" Double quotes stand around names; a string is written '{literal}'." if is_text else ""
            raise self.problem(
                f"Only a literal may stand here: a number, TRUE, FALSE, NULL or a string in single quotes.{hint}",
                position,
            )
        return literal

    def select_item(self) -> SelectItem:
        position = self.position
        if self.accept("*"):
            return SelectAll(position=position)
        if self._next.token_type is TokenType.DOT and self.word(ahead=2) == "*":
            source = self.name()
            self.expect(".", "*")
            return SelectAll(source, position=position)
        node = self._parse_disjunction()
        if isinstance(node, _PRIMARIES) and self.accept("->", "*"):
            return SelectAll(struct=self._conversion.expression(node), position=position)
        return SelectColumn(self._conversion.expression(node), self._alias(), self.last_text)

    def _alias(self) -> str | None:
        return self.name() if self.accept("AS") or self._has_bare_alias() else None

    def source_alias(self) -> str | None:
        if self.range_word() is not None:
            return None
        return self.source_name() if self.accept("AS") or self._has_bare_alias() else None

    def range_word(self) -> str | None:
        """The next word, if it begins a part of a range. None of them is reserved but BETWEEN: what follows tells that they are no names."""
        for known, behind in _RANGE_WORDS.items():
            for next_word in behind:
                self._miss_rest((known, next_word))
        word, following = self.word(), self.word(ahead=1)
        is_number = bool(self._next) and self._next.token_type is TokenType.NUMBER
        match word:
            case "BETWEEN":
                return word
            case "AS":
                return word if following == "OF" and self.word(ahead=2) == "TIMESTAMP" else None
            case "SINCE":
                return word if is_number or following in ("OFFSET", "TIMESTAMP", "BEGINNING") else None
            case "UNTIL":
                return word if is_number or following in ("OFFSET", "TIMESTAMP") else None
            case "PARTITION" | "TAIL":
                return word if is_number else None
        return None

    def _has_bare_alias(self) -> bool:
        """Some words that begin a clause are not reserved: what follows tells whether they do."""
        self.refuse("", *_LATER)
        for clause in _CLAUSES:
            self._miss_rest(clause)
        if (self.word(), self.word(ahead=1)) in _CLAUSES:
            return False
        if self.word() == "OFFSET" and self._next.token_type is TokenType.NUMBER:
            return False
        if self.word() == "EMIT" and self._next.token_type not in (RESERVED, TokenType.COMMA):
            return False
        return self._curr.token_type in (TokenType.VAR, TokenType.IDENTIFIER)
