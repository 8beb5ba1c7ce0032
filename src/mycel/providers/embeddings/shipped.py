"""The model that comes with the package: where it lies, and whether its files are whole."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from mycel.errors import Misconfigured
from mycel.providers.embeddings.onnx import MODEL_FILES, OnnxEmbedder

FOLDER = Path(__file__).with_name("builtin")
# In the form of `sha256sum`, so that everybody can check it.
CHECKSUMS_FILE = "SHA256SUMS"


def builtin_embedder() -> OnnxEmbedder:
    for name in MODEL_FILES:
        if not (FOLDER / name).is_file():
            raise Misconfigured(
                f"the built-in model is incomplete, {FOLDER / name} is not there: "
                "install Mycel again, or set MYCEL_EMBEDDER to `none`"
            )
    return OnnxEmbedder(FOLDER)


def damaged_files(folder: Path = FOLDER) -> list[str]:
    """Files of the built-in model that are not what was shipped. It reads them whole, so no load does this."""
    return [name for name, checksum in read_checksums(folder).items() if _checksum(folder / name) != checksum]


def read_checksums(folder: Path = FOLDER) -> Mapping[str, str]:
    path = folder / CHECKSUMS_FILE
    try:
        lines = [line.split() for line in path.read_text("utf-8").splitlines()]
    except (OSError, UnicodeDecodeError):
        raise Misconfigured(f"{path} cannot be read: install Mycel again") from None
    if not lines or any(len(line) != 2 for line in lines):
        raise Misconfigured(f"{path} is not a list of checksums: install Mycel again")
    return {name: checksum for checksum, name in lines}


def _checksum(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None
