"""What an adapter says when the package of its framework is not installed, or too old."""

from __future__ import annotations


def missing_package(package: str, error: ImportError) -> ImportError:
    """What to raise instead of an error that names only a module."""
    text = f'this adapter needs {package}: pip install "mycel[adapters]" ({error})'
    return ImportError(text, name=error.name, path=error.path)
