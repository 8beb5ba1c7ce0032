"""Spares a command the library by which typer converts values, where there is nothing to convert.

Loading it takes longer than most commands run. What stands on the line as text and is wanted as text is passed on, and
so is a default that nobody has changed; all else is converted and checked by typer as ever.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

# Where typer keeps what converts a parameter's values: None until it is first needed.
_CONVERTER = "_runtime_param"


def spare_conversion(parameters: Iterable[Any]) -> None:
    for parameter in parameters:
        # A version of typer that keeps it elsewhere makes commands slower, and changes nothing else.
        if getattr(parameter, _CONVERTER, parameter) is None:
            setattr(parameter, _CONVERTER, _AsGiven())


class _AsGiven:
    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        several = param.multiple or param.nargs == -1
        wanted = param.type_descriptor.annotation
        if value is None:
            return () if several else None
        if value is param.default or (wanted is str and not several):
            return value
        if wanted == list[str] and isinstance(value, list | tuple):
            return list(cast(Iterable[str], value))
        setattr(param, _CONVERTER, None)
        return param.get_runtime_param().coerce(value, param=param, ctx=ctx)
