"""The errors of this package."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, Optional

if TYPE_CHECKING:
    from .result import Result


class AirlockError(Exception):
    """What the gateway refused, or why it cannot be reached (then status is 0 and code is "unreachable", or
    "invalid_answer" if the answer is not that of a gateway)."""

    def __init__(self, status: int, problem: Mapping[str, Any], retry_after: Optional[float] = None) -> None:
        super().__init__(_text(problem, "detail") or f"the gateway answered {status}")
        self.status = status
        #: Stable: compare this.
        self.code: str = _text(problem, "code") or "unknown"
        #: The field of the request that is at fault.
        self.field: Optional[str] = _text(problem, "field")
        self.request_id: Optional[str] = _text(problem, "requestId")
        #: Seconds after which another try may succeed.
        self.retry_after = retry_after


def _text(problem: Mapping[str, Any], name: str) -> Optional[str]:
    value = problem.get(name)
    return value if isinstance(value, str) else None


class ExecutionError(Exception):
    """A run that did not complete, as Result.value raises it."""

    def __init__(self, result: "Result[Any]") -> None:
        super().__init__(result.error or f"the execution ended as {result.status}")
        self.result = result

    @property
    def status(self) -> str:
        return self.result.status

    @property
    def limit(self) -> Optional[str]:
        """The limit that ended the run, if one did."""
        return self.result.limit
