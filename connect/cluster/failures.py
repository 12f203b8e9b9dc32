"""Why the worker does not do what a client asks. HTTP alone knows which code each is."""

from __future__ import annotations

from typing import Final

CONFLICT: Final = "Cannot complete request because of a conflicting operation (e.g. worker rebalance)"


class WorkerError(Exception):
    """The message is for the client: what, which value, why, and what to do."""


class NotFound(WorkerError):
    """There is no such connector, task, plugin or logger."""


class AlreadyExists(WorkerError):
    """A connector of this name is there already."""


class Conflict(WorkerError):
    """Not now: the group has no leader, is being shared out anew, or somebody else changed the same thing. The client may try again."""


class BadRequest(WorkerError):
    """It could not be done at any time as it was asked."""


class InvalidConfig(BadRequest):
    """A connector's configuration that cannot be taken; the message lists everything that is wrong with it."""


class Forbidden(WorkerError):
    """The worker's settings forbid it."""


class Unauthorised(WorkerError):
    """A call that only workers of the group may make, without their signature."""
