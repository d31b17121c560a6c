"""The outcome of a run."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any, Generic, Literal, Optional, TypeVar, Union

from . import wire
from .errors import AirlockError, ExecutionError

T = TypeVar("T")


@dataclass(frozen=True)
class Log:
    """A console call."""

    level: str
    message: str


class Result(Generic[T]):
    """The outcome of a run. A failure of the code is a result, too: look at status, or ask for value()."""

    def __init__(self, body: wire.ExecutionResult) -> None:
        if not isinstance(body, dict) or not isinstance(body.get("id"), str) or not isinstance(body.get("status"), str):
            raise AirlockError(0, {"code": "invalid_answer", "detail": "the gateway's answer is not a result"})
        #: The response of the gateway, with every field.
        self.wire: wire.ExecutionResult = body
        self.id: str = body["id"]
        self.status: str = body["status"]
        #: What the code evaluates to; None if it did not complete.
        self.result: Optional[T] = body.get("result")
        #: The console text.
        self.output: str = body.get("output", "")
        self.logs: list[Log] = [Log(entry["level"], entry["message"]) for entry in body.get("logs", ())]
        #: One line, or None if the code completed.
        self.error: Optional[str] = body.get("error")
        self.exception: Optional[wire.Exception] = body.get("exception")
        #: The limit that ended the run, if one did.
        self.limit = body.get("limit")
        self.policy: str = body.get("policy")
        self.usage: wire.Usage = body.get("usage")
        self.duration_ms: float = body.get("durationMs")

    @property
    def ok(self) -> bool:
        """Whether the code completed."""
        return self.status == "completed"

    def value(self) -> T:
        """The value of the code. It raises an ExecutionError, with the limit that was hit, if there is none."""
        if not self.ok:
            raise ExecutionError(self)
        return self.result  # type: ignore[return-value]

    @property
    def files(self) -> dict[str, Union[str, bytes]]:
        """Returns the files that the run wrote."""
        found: dict[str, Union[str, bytes]] = {}
        for path, content in self.wire.get("filesOut", {}).items():
            found[path] = content if isinstance(content, str) else base64.b64decode(content["base64"])
        return found

    def __repr__(self) -> str:
        parts = [f"id={self.id!r}", f"status={self.status!r}", f"result={self.result!r}"]
        parts += [f"{name}={value!r}" for name, value in (("error", self.error), ("limit", self.limit)) if value]
        return f"Result({', '.join(parts)})"


@dataclass(frozen=True)
class Event(Generic[T]):
    """An event of a stream: log has one of type "log", tool and params one of type "call", result the last."""

    type: Literal["log", "call", "result"]
    log: Optional[Log] = None
    tool: Optional[str] = None
    params: Any = None
    result: Optional[Result[T]] = None
