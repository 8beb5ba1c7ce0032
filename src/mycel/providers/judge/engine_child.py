"""The engine's child process with the judge of the package: `python -m mycel.providers.judge.engine_child`."""

from __future__ import annotations

from mycel.engine.executor_child import main
from mycel.providers.judge.shipped import builtin_judge

if __name__ == "__main__":
    main(builtin_judge)
