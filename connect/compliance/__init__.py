"""Tests that a connector inherits: see `connect.compliance.source` and `connect.compliance.sink`. They need pytest, and no worker and no broker."""
