"""Likely secrets, found and masked in whatever comes in."""
