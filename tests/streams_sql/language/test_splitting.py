from __future__ import annotations

import pytest

from streams_sql.language.splitting import split_statements
from streams_sql.problem import Position, SyntaxProblem


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("", []),
        (" ; ;\n-- nothing; here\n", []),
        ("SHOW TABLES", ["SHOW TABLES"]),
        ("SHOW TABLES;  \n SHOW STREAMS ; ", ["SHOW TABLES;", "SHOW STREAMS ;"]),
        ("-- one;\n/* two; */ SELECT a /* ; */ FROM s; x", ["SELECT a /* ; */ FROM s;", "x"]),
        ("SELECT 'a;b''c;' FROM s; d", ["SELECT 'a;b''c;' FROM s;", "d"]),
        ('SELECT "a;", `b;``;` FROM s; d', ['SELECT "a;", `b;``;` FROM s;', "d"]),
        ("SELECT a -- it's\n, b - c / d FROM s; e", ["SELECT a -- it's\n, b - c / d FROM s;", "e"]),
        ("a;\n b\n -- end", ["a;", "b\n -- end"]),
    ],
)
def test_statements_end_at_semicolons(text: str, statements: list[str]) -> None:
    assert split_statements(text) == statements


@pytest.mark.parametrize("opening", ["'", '"', "`", "/*"])
def test_what_is_not_finished_is_a_problem_where_it_begins(opening: str) -> None:
    with pytest.raises(SyntaxProblem, match="is not finished") as caught:
        split_statements(f"a;\nb {opening} c;")
    assert caught.value.position == Position(2, 3, len(opening))
