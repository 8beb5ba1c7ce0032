"""Drawing candidates from captured talk by rules alone, with no language model."""
