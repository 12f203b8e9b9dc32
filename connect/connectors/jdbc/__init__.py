"""Tables of databases: rows as records, and records as rows."""
