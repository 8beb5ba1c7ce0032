"""What a row of the table of operations says about calling it again."""

import pytest

from mycel.client.exchanges import Exchange, Failed, Sent, exchange
from mycel.errors import Unavailable
from mycel.surfaces.mcp.tool import LocalTool
from mycel.surfaces.mcp.tools import TOOLS
from mycel.wire.operations import IDEMPOTENCY, OPERATIONS, Effect, Operation, Repeat


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: f"{operation.method} {operation.path}")
def test_what_reads_may_be_sent_again_and_what_takes_a_key_has_one(operation: Operation) -> None:
    assert operation.repeat is Repeat.SAFE or operation.effect is not Effect.READS
    assert (operation.repeat is Repeat.KEYED) <= (IDEMPOTENCY in operation.fields)
    assert (IDEMPOTENCY in operation.fields) <= (operation.repeat is not Repeat.NEVER)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: f"{operation.method} {operation.path}")
def test_the_client_sends_again_what_the_row_allows(operation: Operation) -> None:
    given = dict.fromkeys([*operation.required, *operation.in_path], "x")
    steps = exchange(operation, given, {})
    assert isinstance(next(steps), Sent)
    assert _goes_on(steps) is (operation.repeat is not Repeat.NEVER)


def test_a_tool_does_what_its_operation_does() -> None:
    for tool in TOOLS:
        if not isinstance(tool, LocalTool):
            assert tool.effect is tool.operation.effect
            assert tool.operation.writes is (tool.effect is not Effect.READS)


def _goes_on(steps: Exchange) -> bool:
    try:
        steps.send(Failed("the connection broke"))
    except Unavailable:
        return False
    return True
