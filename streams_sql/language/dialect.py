"""The language's tokens, as a dialect of sqlglot.

Words that are not reserved are plain names to the tokenizer. Where one of them has a meaning, such as KEY or EMIT, the parser looks at
its text.
"""

from __future__ import annotations

from typing import ClassVar, Final

from sqlglot import tokens
from sqlglot.dialects.dialect import Dialect
from sqlglot.tokenizer_core import TokenType

from streams_sql.language.words import RESERVED_WORDS

RESERVED: Final = TokenType.COMMAND
"""The type of all reserved words that the tokenizer has no other type for."""

UNKNOWN: Final = TokenType.UNKNOWN
"""The type of characters that mean nothing."""


class StreamsSql(Dialect):
    IDENTIFIERS_CAN_START_WITH_DIGIT = True

    class Tokenizer(tokens.Tokenizer):
        QUOTES: ClassVar = ["'"]
        IDENTIFIERS: ClassVar = ['"', "`"]
        STRING_ESCAPES: ClassVar = ["'"]
        IDENTIFIER_ESCAPES: ClassVar[list[str]] = []
        COMMENTS: ClassVar = ["--", ("/*", "*/")]
        NESTED_COMMENTS = False
        COMMANDS: ClassVar[set[TokenType]] = set()
        VAR_SINGLE_TOKENS: ClassVar = {"@"}

        SINGLE_TOKENS: ClassVar = {
            **dict.fromkeys("{}&^:!|?~#$@\\", UNKNOWN),
            "(": TokenType.L_PAREN,
            ")": TokenType.R_PAREN,
            "[": TokenType.L_BRACKET,
            "]": TokenType.R_BRACKET,
            ",": TokenType.COMMA,
            ".": TokenType.DOT,
            ";": TokenType.SEMICOLON,
            "+": TokenType.PLUS,
            "-": TokenType.DASH,
            "*": TokenType.STAR,
            "/": TokenType.SLASH,
            "%": TokenType.MOD,
            "=": TokenType.EQ,
            "<": TokenType.LT,
            ">": TokenType.GT,
            "'": UNKNOWN,
            '"': UNKNOWN,
            "`": UNKNOWN,
        }

        KEYWORDS: ClassVar = {
            **dict.fromkeys(RESERVED_WORDS, RESERVED),
            "<>": TokenType.NEQ,
            "!=": TokenType.NEQ,
            "<=": TokenType.LTE,
            ">=": TokenType.GTE,
            "||": TokenType.DPIPE,
            "->": TokenType.ARROW,
            "=>": TokenType.FARROW,
            ":=": TokenType.COLON_EQ,
            "AND": TokenType.AND,
            "OR": TokenType.OR,
            "NOT": TokenType.NOT,
            "NULL": TokenType.NULL,
            "TRUE": TokenType.TRUE,
            "FALSE": TokenType.FALSE,
        }
