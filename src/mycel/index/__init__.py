"""The index of a team in columns: which memories hold which terms, what they mean, and who may find which."""
