"""The parts of a store in the SQL that every database here reads; what only one of them can say stands beside it."""
