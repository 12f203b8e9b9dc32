"""What statements are read from: words, names, and whole expressions."""

from __future__ import annotations

from typing import Final

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from streams_sql.language.conversion import Conversion
from streams_sql.language.dialect import RESERVED
from streams_sql.language.expression_grammar import ExpressionGrammar
from streams_sql.language.expressions import Expression, Literal
from streams_sql.language.statements import SelectAll, SelectColumn, SelectItem

_PRIMARIES: Final = (exp.Column, exp.Dot, exp.Bracket, exp.Anonymous, exp.Paren, exp.Struct, exp.Cast, exp.Case)
"""What may stand before ->*."""

_LATER: Final = ("UNION ALL", "UNION SELECT", "INTERSECT SELECT", "EXCEPT SELECT", "ORDER BY", "OVER (")


class Reader(ExpressionGrammar):
    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._conversion = Conversion(self.lines)

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
            raise self.problem(
                "Only a literal may stand here: a number, TRUE, FALSE, NULL or a string in single quotes.", position
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
        return SelectColumn(self._conversion.expression(node), self._alias())

    def _alias(self) -> str | None:
        return self.name() if self.accept("AS") or self._has_bare_alias() else None

    def source_alias(self) -> str | None:
        return self.source_name() if self.accept("AS") or self._has_bare_alias() else None

    def _has_bare_alias(self) -> bool:
        """Some words that begin a clause are not reserved: what follows tells whether they do."""
        self.refuse("", *_LATER)
        if self.word() == "PARTITION" and self.word(ahead=1) == "BY":
            return False
        if self.word() == "EMIT" and self._next.token_type not in (RESERVED, TokenType.COMMA):
            return False
        return self._curr.token_type in (TokenType.VAR, TokenType.IDENTIFIER)
