"""Memory of other systems, read into one stream of records: one small reader per system, and nothing is stored here."""
