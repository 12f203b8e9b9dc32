"""How the JDBC sink writes: from records to rows, and from rows to tables."""
