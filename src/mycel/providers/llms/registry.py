"""Which language model a setting names; the others are not even imported."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from mycel.contracts.language_model import LanguageModel
from mycel.errors import Misconfigured
from mycel.providers.llms.prompt import ANSWER_SECONDS

NONE, OPENAI, ANTHROPIC, COMMAND = "none", "openai", "anthropic", "command"
NAMES = (NONE, OPENAI, ANTHROPIC, COMMAND)


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageModelOptions:
    """`llm` is one of `NAMES`; the key goes to the URL, or to the vendor where there is none.

    A command is run with what `environment` returns then.
    """

    llm: str = NONE
    model: str | None = None
    url: str | None = None
    key: str | None = field(default=None, repr=False)
    command: str | None = None
    seconds: float | None = None
    environment: Callable[[], Mapping[str, str]] = dict[str, str]


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

    seconds = options.seconds or ANSWER_SECONDS
    return OpenAILanguageModel(model=options.model, url=options.url, key=options.key, answer_seconds=seconds)


def _anthropic(options: LanguageModelOptions) -> LanguageModel:
    from mycel.providers.llms.anthropic import AnthropicLanguageModel

    seconds = options.seconds or ANSWER_SECONDS
    return AnthropicLanguageModel(model=options.model, url=options.url, key=options.key, answer_seconds=seconds)


def _command(options: LanguageModelOptions) -> LanguageModel:
    from mycel.providers.llms.command import ANSWER_SECONDS as COMMAND_SECONDS
    from mycel.providers.llms.command import CommandLanguageModel, read_command

    return CommandLanguageModel(
        read_command(options.command),
        model=options.model,
        environment=options.environment,
        answer_seconds=options.seconds or COMMAND_SECONDS,
    )


_MAKERS: Mapping[str, Callable[[LanguageModelOptions], LanguageModel | None]] = {
    NONE: _none,
    OPENAI: _openai,
    ANTHROPIC: _anthropic,
    COMMAND: _command,
}
