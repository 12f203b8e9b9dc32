"""Programs that measure what the project claims, each beside its peer in the same run."""
