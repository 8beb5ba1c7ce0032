"""Teaching the small model that reads a pair of statements, or a turn of a talk: `mycel-judge-1`."""
