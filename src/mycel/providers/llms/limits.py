"""How long and how much one question to a language model may take."""

from __future__ import annotations

from mycel.errors import Misconfigured

# Of a whole call, tries and pauses included: a small model writes its longest answers within it.
ANSWER_SECONDS = 60.0
CONNECT_SECONDS = 5.0
# Vendors ask for pauses of several seconds when a minute's share is used up, and nobody waits for this work.
LONGEST_PAUSE_SECONDS = 20.0
# Ten times what the longest useful answer needs.
MOST_ANSWER_BYTES = 1024 * 1024
# About 12,000 tokens; the vendors' models read far more, but find less in it.
VENDOR_CHARACTERS = 48_000
# About 3,000 tokens: a model at home often has a context of 8,000, and drops silently what does not fit.
OTHER_CHARACTERS = 12_000


def checked_model(model: str | None, *, url: str | None, key: str | None, default: str, key_variable: str) -> str:
    """The model to ask; `Misconfigured` for options that cannot work."""
    if url is None and key is None:
        raise Misconfigured(
            f"the language model needs a key: set MYCEL_LLM_KEY or {key_variable}; "
            "another endpoint needs MYCEL_LLM_URL and MYCEL_LLM_MODEL"
        )
    if url is not None and model is None:
        raise Misconfigured("MYCEL_LLM_MODEL must say which model the endpoint of MYCEL_LLM_URL is to use")
    return model or default
