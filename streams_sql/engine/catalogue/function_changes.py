"""CREATE FUNCTION and DROP FUNCTION, as changes of the catalogue."""

from __future__ import annotations

from typing import Final

from streams_sql.analysis.catalogue_view import choice_hint
from streams_sql.analysis.type_names import known_type
from streams_sql.engine.catalogue.catalogue import Catalogue
from streams_sql.engine.catalogue.outcome import Outcome
from streams_sql.functions.library import LIBRARY
from streams_sql.functions.made_functions import made_function
from streams_sql.language.function_statements import CreateFunction, DropFunction
from streams_sql.problem import SqlProblem

FUNCTION: Final = "function"


def create_function(statement: CreateFunction, catalogue: Catalogue) -> Outcome:
    """The code is not looked at: a function is there when it was declared, whatever has become of its module since."""
    entity, name = (FUNCTION, statement.name), statement.name
    if LIBRARY.find(name) is not None:
        raise SqlProblem(f"{name} is a function of the language: choose another name.", statement.position)
    if name in catalogue.functions and not statement.or_replace:
        message = f"Cannot add function '{name}': A function with the same name already exists"
        if statement.if_not_exists:
            return Outcome(entity, "create", message, is_done=False)
        raise SqlProblem(
            f"{message}. Drop it first, choose another name, or say CREATE OR REPLACE.", statement.position
        )
    names = [parameter.name for parameter in statement.parameters]
    twice = next((each for each in names if names.count(each) > 1), None)
    if twice is not None:
        raise SqlProblem(f"The parameter {twice} of {name} is there twice.", statement.position)
    types = tuple(known_type(parameter.type, parameter.position) for parameter in statement.parameters)
    function = made_function(statement, types, known_type(statement.result, statement.position))
    catalogue.put_function(function)
    return Outcome(entity, "create", f"Function {name} created", function=function)


def drop_function(statement: DropFunction, catalogue: Catalogue) -> Outcome:
    entity, name = (FUNCTION, statement.name), statement.name
    if name not in catalogue.functions:
        if statement.if_exists:
            return Outcome(entity, "drop", f"Function '{name}' does not exist", is_done=False)
        if LIBRARY.find(name) is not None:
            raise SqlProblem(f"{name} is a function of the language, and stays.", statement.position)
        hint = choice_hint(name, catalogue.functions) if catalogue.functions else " No function has been created."
        raise SqlProblem(f"Function {name} does not exist.{hint}", statement.position)
    catalogue.drop_function(name)
    return Outcome(entity, "drop", f"Function {name} dropped")
