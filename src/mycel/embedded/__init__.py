"""The Python API on local files, without a service."""
