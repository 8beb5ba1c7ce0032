"""The small model that judges pairs of statements and the sentences of talks, as it comes with the package."""
