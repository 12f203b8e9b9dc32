"""The one place where a refusal of the registry becomes an HTTP status and an error code."""

from __future__ import annotations

from barnabas.kernel.http.errors import HttpError
from barnabas.kernel.leadership.forwarding import ForwardingError, NoLeader
from schema_registry.errors import Incompatible, LeaderUnknown, RegistryError
from schema_registry.formats.parsed_schema import InvalidSchema
from schema_registry.schema import InvalidMember

BAD_REQUEST = 400
UNPROCESSABLE = 422
INTERNAL_ERROR = 500
INVALID_SCHEMA_CODE = 42201
FORWARDING_FAILED_CODE = 50003


class Problems:
    """`incompatible_code` is what servers of one age or another tell beside the status 409."""

    def __init__(self, incompatible_code: int) -> None:
        self._incompatible_code = incompatible_code

    def translate(self, problem: Exception) -> HttpError | None:
        """The answer to a refusal; None for what is no refusal but a fault."""
        if isinstance(problem, RegistryError):
            code = self._incompatible_code if isinstance(problem, Incompatible) else problem.code
            return HttpError(problem.status, problem.message, code=code)
        if isinstance(problem, NoLeader):
            return HttpError(INTERNAL_ERROR, f"Leader not known: {problem}", code=LeaderUnknown.code)
        if isinstance(problem, ForwardingError):
            return HttpError(INTERNAL_ERROR, f"Error while forwarding: {problem}", code=FORWARDING_FAILED_CODE)
        if isinstance(problem, InvalidSchema):
            return HttpError(UNPROCESSABLE, str(problem), code=INVALID_SCHEMA_CODE)
        if isinstance(problem, InvalidMember):
            return HttpError(BAD_REQUEST, str(problem))
        return None
