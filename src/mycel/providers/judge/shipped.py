"""The judge that comes with the package, loaded by the first use; none where it cannot be used."""

from __future__ import annotations

import json
import logging
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from mycel.errors import Misconfigured

if TYPE_CHECKING:
    from mycel.contracts.judge import Judge

FOLDER = Path(__file__).with_name("builtin")
CARD_FILE, MODEL_FILE = "card.json", "judge.onnx"
_log = logging.getLogger(__name__)


@cache
def builtin_judge() -> Judge | None:
    """One for a process. Where onnxruntime or a file is missing, the engine goes by its rules alone."""
    try:
        from mycel.providers.judge.onnx_judge import OnnxJudge

        return OnnxJudge(FOLDER / MODEL_FILE, card=json.loads((FOLDER / CARD_FILE).read_text("utf-8")))
    except (ImportError, OSError, ValueError, Misconfigured) as error:
        _log.warning("the built-in judge cannot be used (%s): pairs and talk are judged by rules alone", error)
        return None
