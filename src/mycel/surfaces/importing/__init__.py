"""Importing from other systems: files of this machine are read here, and records go the way of every client."""
