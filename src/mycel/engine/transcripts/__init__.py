"""Captured talk in its many forms, read into one text with the place of every turn."""
