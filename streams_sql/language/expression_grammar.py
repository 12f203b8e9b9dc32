"""The grammar of expressions, as a parser of sqlglot.

sqlglot reads many dialects and forgives much. What would let pass more than the language has is written anew here: predicates do not
chain, lists have no comma at their end, and every word of CASE, CAST and BETWEEN must be there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Final, TypeVar

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from streams_sql.language.token_reader import EXPRESSION, TokenReader
from streams_sql.language.type_names import read_type
from streams_sql.language.words import UNITS
from streams_sql.problem import shortened

_COMPARISONS: Final = {
    TokenType.EQ: exp.EQ,
    TokenType.NEQ: exp.NEQ,
    TokenType.LT: exp.LT,
    TokenType.LTE: exp.LTE,
    TokenType.GT: exp.GT,
    TokenType.GTE: exp.GTE,
}
_NAMES_AND_COMMAS: Final = frozenset({TokenType.VAR, TokenType.IDENTIFIER, TokenType.COMMA})

K = TypeVar("K")


class Plus(exp.Unary):
    """+x."""


class WrittenType(exp.Expression):
    """The type of a CAST, as a type name of ours."""


class InnerQuery(exp.Expression):
    """A query that stands for a value, as it was read; with `is_existence` for whether it gives rows."""

    arg_types: ClassVar = {"this": True, "is_existence": False}


class ExpressionGrammar(TokenReader):
    TERM: ClassVar = {TokenType.PLUS: exp.Add, TokenType.DASH: exp.Sub}
    FACTOR: ClassVar = {TokenType.STAR: exp.Mul, TokenType.SLASH: exp.Div, TokenType.MOD: exp.Mod}
    EXPONENT: ClassVar = {}
    BITWISE: ClassVar = {}

    # -- predicates -------------------------------------------------------------------------------

    def _parse_equality(self, parse_is: bool = True) -> exp.Expr | None:
        if self._match(TokenType.NOT):
            token = self._prev
            return self.nested(lambda: self.expression(exp.Not(this=self._parse_equality()), token))
        operand = self._parse_bitwise()
        comparison = _COMPARISONS.get(self._curr.token_type)
        if comparison is not None:
            self._advance()
            return self.expression(comparison(this=operand, expression=self._parse_bitwise()))
        if self.accept("IS"):
            return self._parse_is(operand)
        is_negated = self._match(TokenType.NOT)
        predicate = self._parse_predicate(operand)
        if not is_negated:
            return predicate or operand
        if predicate is None:
            raise self.unexpected()
        return self.expression(exp.Not(this=predicate))

    def _parse_predicate(self, operand: exp.Expr | None) -> exp.Expr | None:
        if self.accept("BETWEEN"):
            return self._parse_between(operand)
        if self.accept("IN"):
            if self._is_query():
                return self.expression(exp.In(this=operand, expressions=[self.nested(self._parse_query)]))
            values = self.nested(lambda: self.in_parentheses(self._parse_disjunction))
            return self.expression(exp.In(this=operand, expressions=values))
        if self.accept("LIKE"):
            like = self.expression(exp.Like(this=operand, expression=self._parse_bitwise()))
            return self._parse_escape(like)
        return None

    def _parse_is(self, this: exp.Expr | None) -> exp.Expr:
        is_negated = self._match(TokenType.NOT)
        if self.accept("NULL"):
            test = self.expression(exp.Is(this=this, expression=exp.Null()))
            return self.expression(exp.Not(this=test)) if is_negated else test
        self.expect("DISTINCT")
        self.expect("FROM")
        distinct = exp.NullSafeEQ if is_negated else exp.NullSafeNEQ
        return self.expression(distinct(this=this, expression=self._parse_bitwise()))

    def _parse_between(self, this: exp.Expr | None) -> exp.Between:
        low = self._parse_bitwise()
        self.expect("AND")
        return self.expression(exp.Between(this=this, low=low, high=self._parse_bitwise()))

    def _parse_escape(self, this: exp.Expr | None) -> exp.Expr | None:
        if not self.accept("ESCAPE"):
            return this
        position = self.position
        escape = self.string()
        if len(escape) != 1:
            raise self.problem(f"Expected single character escape but got: {shortened(escape)}", position)
        return self.expression(exp.Escape(this=this, expression=exp.Literal.string(escape)))

    # -- operands ---------------------------------------------------------------------------------

    def _parse_unary(self) -> exp.Expr | None:
        token = self._curr
        if self._match(TokenType.DASH):
            if self._curr.token_type in (TokenType.NUMBER, TokenType.DOT):
                return self._parse_column_ops(self._parse_number(sign=token))
            return self.nested(lambda: self.expression(exp.Neg(this=self._parse_unary()), token))
        if self._match(TokenType.PLUS):
            return self.nested(lambda: self.expression(Plus(this=self._parse_unary()), token))
        return self._parse_column_ops(self._parse_primary())

    def _parse_primary(self) -> exp.Expr:
        token = self._curr
        match token.token_type:
            case TokenType.VAR | TokenType.IDENTIFIER:
                return self._parse_named()
            case TokenType.NUMBER | TokenType.DOT:
                return self._parse_number()
            case TokenType.STRING:
                self._advance()
                return self.expression(exp.Literal(this=token.text, is_string=True), token)
            case TokenType.NULL:
                self._advance()
                return self.expression(exp.Null(), token)
            case TokenType.TRUE | TokenType.FALSE:
                self._advance()
                return self.expression(exp.Boolean(this=token.token_type is TokenType.TRUE), token)
            case TokenType.L_PAREN:
                return self.nested(self._parse_paren)
        if self.word() == "CASE":
            return self.nested(self._parse_case)
        if self.word() == "EXISTS" and self.word(ahead=1) == "(":
            self._advance()
            return self.nested(lambda: self._parse_query(is_existence=True))
        if self.word() == "CAST":
            return self.nested(lambda: self._parse_cast(strict=True))
        raise self.missing(EXPRESSION)

    def _parse_number(self, sign: Token | None = None) -> exp.Literal:
        """A number, which may begin with its point. The sign right before a number belongs to it."""
        first = self._curr
        lead = ""
        if self._match(TokenType.DOT):
            lead = "0."
            is_fraction = (
                self._curr.token_type is TokenType.NUMBER and self._is_connected() and "." not in self._curr.text
            )
            if not is_fraction:
                self._retreat(self._index - 1)
                raise self.missing(EXPRESSION)
        self._advance()
        text = f"{sign.text if sign else ''}{lead}{self._prev.text}"
        return self.expression(exp.Literal(this=text, is_string=False), sign or first)

    def _parse_named(self) -> exp.Expr:
        """A column, a call, or one of the makers ARRAY[…], MAP(…) and STRUCT(…)."""
        word = self.word()
        following = self._next.token_type
        if word == "ARRAY" and following is TokenType.L_BRACKET:
            return self.nested(self._parse_array)
        if following is not TokenType.L_PAREN:
            return self._parse_column()
        if word == "MAP":
            return self.nested(self._parse_map)
        if word == "STRUCT":
            return self.nested(self._parse_struct)
        return self.nested(self._parse_call)

    def _identifier(self) -> exp.Identifier:
        name = self.name()
        return self.expression(exp.Identifier(this=name, quoted=True), self._prev)

    def _parse_column(self) -> exp.Column:
        name = self._identifier()
        if self._curr.token_type is TokenType.DOT and self._next.token_type is not TokenType.STAR:
            self._advance()
            return exp.Column(this=self._identifier(), table=name)
        return exp.Column(this=name)

    def _parse_column_ops(self, this: exp.Expr | None) -> exp.Expr | None:
        """What may follow an operand: [index] and ->field. ->* belongs to the select list."""
        while True:
            if self._match(TokenType.L_BRACKET):
                index = self.nested(self._parse_bitwise)
                self.expect("]")
                this = self.expression(exp.Bracket(this=this, expressions=[index]))
            elif self._curr.token_type is TokenType.ARROW and self._next.token_type is not TokenType.STAR:
                self._advance()
                this = self.expression(exp.Dot(this=this, expression=self._identifier()))
            else:
                return this

    def _parse_paren(self) -> exp.Expr:
        """One expression, or the list that GROUP BY and PARTITION BY may have."""
        token = self._curr
        if self._is_query():
            return self._parse_query()
        self.expect("(")
        if self.accept(")"):
            return self.expression(exp.Tuple(), token)
        expressions = self.listed(self._parse_disjunction)
        self.expect(")")
        if len(expressions) > 1:
            return self.expression(exp.Tuple(expressions=expressions), token)
        return self.expression(exp.Paren(this=expressions[0]), token)

    def _is_query(self) -> bool:
        return self.word() == "(" and self.word(ahead=1) in ("SELECT", "WITH")

    def _parse_query(self, is_existence: bool = False) -> InnerQuery:
        """A query in parentheses."""
        token = self._next or self._curr
        self.expect("(")
        query = self.inner_query()
        self.expect(")")
        return self.expression(InnerQuery(this=query, is_existence=is_existence), token)

    def inner_query(self) -> object:
        """For who knows queries to read."""
        raise self.missing(EXPRESSION)

    # -- what has words or brackets of its own ----------------------------------------------------

    def _parse_case(self) -> exp.Case:
        token = self._curr
        self.expect("CASE")
        self.also("WHEN")
        operand = None if self.word() == "WHEN" else self._parse_bitwise()
        self.expect("WHEN")
        whens = [self._parse_when()]
        while self.accept("WHEN"):
            whens.append(self._parse_when())
        default = self._parse_disjunction() if self.accept("ELSE") else None
        self.expect("END")
        return self.expression(exp.Case(this=operand, ifs=whens, default=default), token)

    def _parse_when(self) -> exp.If:
        condition = self._parse_disjunction()
        self.expect("THEN")
        return self.expression(exp.If(this=condition, true=self._parse_disjunction()))

    def _parse_cast(self, strict: bool, safe: bool | None = None) -> exp.Cast:
        token = self._curr
        self.expect("CAST", "(")
        operand = self._parse_disjunction()
        self.expect("AS")
        written = WrittenType(this=read_type(self))
        self.expect(")")
        return self.expression(exp.Cast(this=operand, to=written), token)

    def _parse_array(self) -> exp.Array:
        token = self._curr
        self.expect("ARRAY", "[")
        elements = [] if self.word() == "]" else self.listed(self._parse_disjunction)
        self.expect("]")
        return self.expression(exp.Array(expressions=elements), token)

    def _parse_map(self) -> exp.Map:
        token = self._curr
        entries = self._parse_entries("MAP", self._parse_disjunction)
        keys = exp.Array(expressions=[key for key, _ in entries])
        values = exp.Array(expressions=[value for _, value in entries])
        return self.expression(exp.Map(keys=keys, values=values), token)

    def _parse_struct(self) -> exp.Struct:
        token = self._curr
        entries = self._parse_entries("STRUCT", self._identifier)
        fields = [exp.PropertyEQ(this=name, expression=value) for name, value in entries]
        return self.expression(exp.Struct(expressions=fields), token)

    def _parse_entries(self, maker: str, parse_key: Callable[[], K]) -> list[tuple[K, exp.Expr | None]]:
        def entry() -> tuple[K, exp.Expr | None]:
            key = parse_key()
            self.expect(":=")
            return key, self._parse_disjunction()

        self.expect(maker, "(")
        entries = [] if self.word() == ")" else self.listed(entry)
        self.expect(")")
        return entries

    def _parse_call(self) -> exp.Anonymous:
        token = self._curr
        name = self.name()
        self.expect("(")
        if self.accept("*"):
            arguments: list[exp.Expr | None] = [exp.Star()]
        elif self.word() == ")":
            arguments = []
        else:
            arguments = self._parse_arguments()
        self.expect(")")
        return self.expression(exp.Anonymous(this=name, expressions=arguments), token)

    def _parse_arguments(self) -> list[exp.Expr | None]:
        arguments: list[exp.Expr | None] = []
        while True:
            if self._is_lambda_ahead() and arguments:
                arguments.append(self.nested(self._parse_lambda))
            elif arguments and isinstance(arguments[-1], exp.Lambda):
                raise self.problem("Only lambdas may follow the lambdas of a function.")
            else:
                arguments.append(self._parse_argument())
            if not self.accept(","):
                return arguments

    def _parse_argument(self) -> exp.Expr | None:
        if self._curr.token_type is not TokenType.VAR and self.word() in UNITS:
            # The other units are no reserved words, and are read as columns by themselves.
            self._advance()
            unit = self.expression(exp.Identifier(this=self._prev.text.upper(), quoted=True), self._prev)
            return exp.Column(this=unit)
        return self._parse_disjunction()

    def _is_lambda_ahead(self) -> bool:
        if self._curr.token_type is not TokenType.L_PAREN:
            return self._next.token_type is TokenType.FARROW
        index = self._index + 1
        while index < self._tokens_size and self._tokens[index].token_type in _NAMES_AND_COMMAS:
            index += 1
        ending = [token.token_type for token in self._tokens[index : index + 2]]
        return ending == [TokenType.R_PAREN, TokenType.FARROW]

    def _parse_lambda(self, alias: bool = False) -> exp.Lambda:
        token = self._curr
        parameters = self.in_parentheses(self._identifier) if self.word() == "(" else [self._identifier()]
        self.expect("=>")
        return self.expression(exp.Lambda(this=self._parse_disjunction(), expressions=parameters), token)
