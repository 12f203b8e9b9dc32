"""How the store fails. Those that reach a client carry its error code."""

from __future__ import annotations

from schema_registry.errors import LeaderUnknown, OperationTimedOut, SchemaTooLarge, StoreError


class TopicUnfit(Exception):
    """The topic exists and cannot hold schemas; the registry must not start on it."""


class OutOfRange(Exception):
    """The log has no such offset: it was cut at its start, or it lost its end."""


class TopicReplaced(Exception):
    """The topic was deleted and made anew: its offsets mean other records than before."""


class StoreFailed(StoreError):
    """The log refused the records: nothing was written."""


class StoreTimeout(OperationTimedOut):
    """The records were not seen in the log in time. They may still arrive."""


class RecordsTooLarge(SchemaTooLarge):
    """The records of one write are larger than the topic takes at once."""


class Fenced(LeaderUnknown):
    """Another instance leads now, and the log takes records from it alone."""
