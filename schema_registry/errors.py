"""What can go wrong, each with its HTTP status and Confluent's error code. Texts that clients look for are Confluent's."""

from __future__ import annotations

from http import HTTPStatus


class RegistryError(Exception):
    """A refusal that the client is told of."""

    status = HTTPStatus.INTERNAL_SERVER_ERROR
    code = 500

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class NotFound(RegistryError):
    status = HTTPStatus.NOT_FOUND


class Unprocessable(RegistryError):
    status = HTTPStatus.UNPROCESSABLE_ENTITY


class SubjectNotFound(NotFound):
    code = 40401

    def __init__(self, subject: str) -> None:
        super().__init__(f"Subject '{subject}' not found.")


class VersionNotFound(NotFound):
    code = 40402

    def __init__(self, version: int) -> None:
        super().__init__(f"Version {version} not found.")


class SchemaNotFound(NotFound):
    code = 40403

    def __init__(self, which: object = None) -> None:
        super().__init__("Schema not found" if which is None else f"Schema {which} not found")


class SubjectSoftDeleted(NotFound):
    code = 40404

    def __init__(self, subject: str) -> None:
        super().__init__(f"Subject '{subject}' was soft deleted.Set permanent=true to delete permanently")


class SubjectNotSoftDeleted(NotFound):
    code = 40405

    def __init__(self, subject: str) -> None:
        super().__init__(f"Subject '{subject}' was not deleted first before being permanently deleted")


class VersionSoftDeleted(NotFound):
    code = 40406

    def __init__(self, subject: str, version: int) -> None:
        super().__init__(
            f"Subject '{subject}' Version {version} was soft deleted.Set permanent=true to delete permanently"
        )


class VersionNotSoftDeleted(NotFound):
    code = 40407

    def __init__(self, subject: str, version: int) -> None:
        super().__init__(
            f"Subject '{subject}' Version {version} was not deleted first before being permanently deleted"
        )


class ConfigNotFound(NotFound):
    code = 40408

    def __init__(self, subject: str) -> None:
        super().__init__(f"Subject '{subject}' does not have subject-level compatibility configured")


class ModeNotFound(NotFound):
    code = 40409

    def __init__(self, subject: str) -> None:
        super().__init__(f"Subject '{subject}' does not have subject-level mode configured")


class Incompatible(RegistryError):
    """The schema cannot follow those before it. Older servers told 409 as the code, newer ones tell 40901."""

    status = HTTPStatus.CONFLICT
    code = 40901

    def __init__(self, subject: str, messages: list[str]) -> None:
        super().__init__(
            "Schema being registered is incompatible with an earlier schema for subject "
            f'"{subject}", details: [{", ".join(messages)}]'
        )


class SchemaRefused(Unprocessable):
    code = 42201


class InvalidVersion(Unprocessable):
    code = 42202

    def __init__(self, text: object) -> None:
        super().__init__(
            f"The specified version '{text}' is not a valid version id. Allowed values are between [1, 2^31-1] and the"
            ' string "latest"'
        )


class InvalidCompatibility(Unprocessable):
    code = 42203


class InvalidMode(Unprocessable):
    code = 42204


class NotPermitted(Unprocessable):
    code = 42205


class StillReferenced(Unprocessable):
    code = 42206

    def __init__(self, subject: str, version: int) -> None:
        super().__init__(
            "One or more references exist to the schema "
            f"{{magic=1,keytype=SCHEMA,subject={subject},version={version}}}."
        )


class InvalidSubject(Unprocessable):
    code = 42208

    def __init__(self, subject: str) -> None:
        super().__init__(f"The specified subject '{subject}' is not a valid.")


class SchemaTooLarge(Unprocessable):
    code = 42209


class InvalidRules(Unprocessable):
    code = 42210


class ContextNotEmpty(Unprocessable):
    code = 42211

    def __init__(self, context: str) -> None:
        super().__init__(f"The specified context '{context}' is not empty.")


class StoreError(RegistryError):
    code = 50001


class OperationTimedOut(RegistryError):
    code = 50002


class LeaderUnknown(RegistryError):
    code = 50004
