"""Agent frameworks on a team's memory: each module stands behind one framework's own interface for memory.

The frameworks come with the extra `adapters`; without its package a module says so when it is imported.
"""
