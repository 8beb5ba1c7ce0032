"""What language models are told to do, one text per task, in files beside this one."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def read_prompt(name: str) -> str:
    return files(__name__).joinpath(f"{name}.md").read_text("utf-8")
