"""Mycel beside the peers a user would pick, each in an environment of its own."""
