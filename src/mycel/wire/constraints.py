"""What the parts of a request must have to do with each other, as JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from mycel.contracts.memory_api import CaptureFields
from mycel.domain.episode import Action
from mycel.domain.link import PLACE_RELATIONS
from mycel.domain.memory import Visibility
from mycel.domain.task import MAX_TASK_OUTPUT_BYTES
from mycel.wire.schemas import ID, NULL, Schema, either, filled, one_of
from mycel.wire.vocabulary import WORDS

_OTHERS = [visibility.value for visibility in Visibility if visibility is not Visibility.ROLE]
# Roles go with the visibility `role`, and with no other.
AUDIENCE = either(
    {
        "properties": {
            "visibility": {"const": Visibility.ROLE.value},
            "allowed_roles": either({"type": "array", "minItems": 1}, {"type": "string"}),
        },
        "required": ["allowed_roles", "visibility"],
    },
    {
        "properties": {
            "visibility": {"enum": [*_OTHERS, None]},
            "allowed_roles": either(NULL, {"type": "array", "maxItems": 0}),
        }
    },
)
# One end, or none.
EXPIRY = either({"properties": {"ttl": NULL}}, {"properties": {"expires_at": NULL}})
SOMETHING: Schema = {"minProperties": 1}
# New material, or a source that is there, of which nothing can be changed.
MATERIAL = either(
    {"properties": {"messages": {"not": NULL}, "source_id": NULL}, "required": ["messages"]},
    {
        "properties": {"source_id": ID, "messages": NULL, **dict.fromkeys(CaptureFields.__annotations__, NULL)},
        "required": ["source_id"],
    },
)
ENDING = either(
    {
        "properties": {
            "action": {"const": Action.COMPLETED.value},
            "output": filled(MAX_TASK_OUTPUT_BYTES),
            "what_went_wrong": NULL,
        },
        "required": ["output"],
    },
    {
        "properties": {"action": {"const": Action.FAILED.value}, "what_went_wrong": WORDS["what_went_wrong"]},
        "required": ["action", "what_went_wrong"],
    },
)
_TO_A_PLACE = either({"properties": {"to_id": ID}}, {"properties": {"relation": one_of(sorted(PLACE_RELATIONS))}})

CONSTRAINTS: Mapping[str, Sequence[Schema]] = MappingProxyType(
    {
        "save": [AUDIENCE, EXPIRY],
        "update": [EXPIRY, SOMETHING],
        "link": [_TO_A_PLACE],
        "set_policy": [SOMETHING],
        "index_file": [AUDIENCE],
        "capture_session": [AUDIENCE],
        "capture_conversation": [AUDIENCE, MATERIAL],
        "summarize_thread": [AUDIENCE, MATERIAL],
        "complete_task": [AUDIENCE],
        "fail_task": [AUDIENCE],
        "knowledge.upsert": [AUDIENCE],
        "episodes.log": [AUDIENCE],
        "artifacts.register": [AUDIENCE],
    }
)
