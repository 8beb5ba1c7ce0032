"""Coding agents and their settings files: what is put into them, how it is taken out again, and whether it works."""
