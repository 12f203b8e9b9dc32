"""Why a log does not take what is written to it."""


class StoreFailure(Exception):
    """Kafka did not take a write or did not answer in time; what was asked may or may not have been done."""


class Superseded(Exception):
    """Another instance leads the group by now, and the log takes records from it alone."""
