"""The broker's settings of transactions, read once."""

from __future__ import annotations

from dataclasses import dataclass

from barnabas.kernel.settings import Settings


@dataclass(frozen=True, slots=True)
class TransactionSettings:
    max_timeout_ms: int
    expiration_ms: int
    abort_interval_ms: int
    expiration_interval_ms: int
    retry_interval_ms: int
    """How often a produce request looks again whether the transaction before has ended..."""

    retry_max_ms: int
    """...and for how long."""

    @classmethod
    def of(cls, settings: Settings) -> TransactionSettings:
        return cls(
            max_timeout_ms=settings.integer("transaction.max.timeout.ms"),
            expiration_ms=settings.integer("transactional.id.expiration.ms"),
            abort_interval_ms=settings.integer("transaction.abort.timed.out.transaction.cleanup.interval.ms"),
            expiration_interval_ms=settings.integer("transaction.remove.expired.transaction.cleanup.interval.ms"),
            retry_interval_ms=settings.integer("add.partitions.to.txn.retry.backoff.ms"),
            retry_max_ms=settings.integer("add.partitions.to.txn.retry.backoff.max.ms"),
        )
