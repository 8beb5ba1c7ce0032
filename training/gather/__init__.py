"""The texts: pinned packages of the registries, unpacked, cleaned, and written as compressed lists."""
