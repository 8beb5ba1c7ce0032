"""What Mycel uses of onnxruntime, which has no types of its own."""

from collections.abc import Mapping, Sequence
from typing import Any

class NodeArg:
    name: str
    type: str
    shape: list[int | str | None]

class SessionOptions:
    intra_op_num_threads: int
    inter_op_num_threads: int
    log_severity_level: int
    def add_session_config_entry(self, key: str, value: str) -> None: ...

class InferenceSession:
    def __init__(self, path: str, sess_options: SessionOptions, *, providers: Sequence[str]) -> None: ...
    def get_inputs(self) -> list[NodeArg]: ...
    def get_outputs(self) -> list[NodeArg]: ...
    def run(self, output_names: Sequence[str], input_feed: Mapping[str, Any]) -> list[Any]: ...
