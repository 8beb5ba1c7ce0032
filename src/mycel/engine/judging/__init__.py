"""Judging two statements: whether they say the same, contradict each other, or one replaces the other."""
