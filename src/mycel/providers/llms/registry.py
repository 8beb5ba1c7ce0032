"""Which language model a setting names; the others are not even imported."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from mycel.contracts.language_model import LanguageModel
from mycel.errors import Misconfigured

NONE, OPENAI, ANTHROPIC = "none", "openai", "anthropic"
NAMES = (NONE, OPENAI, ANTHROPIC)


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageModelOptions:
    """`llm` is `none`, `openai` or `anthropic`; the key goes to the URL, or to the vendor where there is none."""

    llm: str = NONE
    model: str | None = None
    url: str | None = None
    key: str | None = field(default=None, repr=False)


def make_language_model(options: LanguageModelOptions) -> LanguageModel | None:
    """None when rules alone extract and summarise; `Misconfigured` when the options cannot work."""
    maker = _MAKERS.get(options.llm)
    if maker is None:
        raise Misconfigured(f"MYCEL_LLM must be one of `{'`, `'.join(NAMES)}`, not {options.llm[:40]!a}")
    return maker(options)


def _none(_: LanguageModelOptions) -> None:
    return None


def _openai(options: LanguageModelOptions) -> LanguageModel:
    from mycel.providers.llms.openai import OpenAILanguageModel

    return OpenAILanguageModel(model=options.model, url=options.url, key=options.key)


def _anthropic(options: LanguageModelOptions) -> LanguageModel:
    from mycel.providers.llms.anthropic import AnthropicLanguageModel

    return AnthropicLanguageModel(model=options.model, url=options.url, key=options.key)


_MAKERS: Mapping[str, Callable[[LanguageModelOptions], LanguageModel | None]] = {
    NONE: _none,
    OPENAI: _openai,
    ANTHROPIC: _anthropic,
}
