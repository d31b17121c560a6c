"""What the synchronous and the asynchronous client share: requests, problems and events, without input and output."""

from __future__ import annotations

import base64
import json
import uuid
from dataclasses import dataclass, field
from typing import Any, Iterator, Mapping, Optional, Union
from urllib.parse import quote, urlsplit

import httpx

from .errors import AirlockError
from .tools import Toolbox

#: The longest wait that the gateway may ask for between two tries, in seconds.
LONGEST_WAIT = 60.0
#: The codes of problems after which code may have run.
UNCERTAIN = frozenset({"unavailable", "unrecorded", "unknown"})
#: How often the rest of a stream is asked for when its connection is lost.
RESUMPTIONS = 5
#: How long the cancellation of an abandoned run may take, in seconds.
ABANDON_WITHIN = 5.0
#: A run may wait for its place, and then takes its time. Silent streams have heartbeats.
TIMEOUT = httpx.Timeout(900.0, connect=10.0)

OPTIONS = frozenset({
    "input", "context", "files", "entry", "language", "policy", "timeout", "memory", "limits", "seed", "engine",
    "priority", "hosts", "secrets", "debug", "args",
})


#: The digits of the longest integer that is read as one.
LONGEST_INTEGER = 400


def integer(text: str) -> Union[int, float]:
    """The integer of a JSON text. Guests may write a million digits, for which int() fails, or takes minutes."""
    return int(text) if len(text) <= LONGEST_INTEGER else float(text)


def address(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query or parts.fragment:
        raise ValueError(f"{url!r} is not the address of a gateway; write it as https://airlock.example.com")
    return url.rstrip("/")


@dataclass
class Send:
    """A request."""

    method: str
    path: str
    body: Optional[bytes] = None
    headers: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.body is not None:
            self.headers["Content-Type"] = "application/json"

    @property
    def repeatable(self) -> bool:
        """Whether it may be sent again although it may have done something."""
        return self.method != "POST" or "Idempotency-Key" in self.headers


class Attempts:
    """Decides whether a request is sent again, and when."""

    def __init__(self, send: Send, retries: int) -> None:
        self.send, self.left, self.pause = send, retries, 0.25

    def after_error(self, url: str, error: httpx.TransportError) -> float:
        """The seconds to wait after a connection that failed, or an error."""
        if not self.send.repeatable or self.left == 0:
            detail = f"the gateway at {url} cannot be reached: {error or type(error).__name__}"
            raise AirlockError(0, {"code": "unreachable", "detail": detail}) from error
        return self._next(None)

    def after_problem(self, problem: AirlockError) -> float:
        """The seconds to wait after a refusal, or the refusal."""
        sure = self.send.repeatable or problem.code not in UNCERTAIN
        busy = problem.status == 429 or problem.status == 503 and sure
        if not busy or self.left == 0 or (problem.retry_after or 0) > LONGEST_WAIT:
            raise problem
        return self._next(problem.retry_after)

    def _next(self, asked: Optional[float]) -> float:
        self.left -= 1
        self.pause *= 2
        return self.pause / 2 if asked is None else asked


def problem_of(response: httpx.Response, body: bytes) -> AirlockError:
    try:
        document = json.loads(body, parse_int=integer)
    except ValueError:
        document = None
    try:
        after = float(response.headers.get("Retry-After", ""))
    except ValueError:
        after = None
    return AirlockError(response.status_code, document if isinstance(document, dict) else {}, after)


def execute(path: str, code: str, options: Mapping[str, Any], key: Optional[str], tools: Optional[Toolbox] = None,
            **more: Any) -> Send:
    """The request that runs or analyzes code."""
    unknown = set(options) - OPTIONS
    if unknown:
        raise TypeError(f"unknown option: {', '.join(sorted(unknown))}")
    body: dict[str, Any] = {name: value for name, value in options.items() if value is not None or name == "input"}
    if code or "entry" not in body:
        body["code"] = code
    if "files" in body:
        body["files"] = {
            path: {"base64": base64.b64encode(content).decode()} if isinstance(content, (bytes, bytearray)) else content
            for path, content in body["files"].items()
        }
    if tools is not None and tools.wire:
        body["tools"] = tools.wire
    body.update(more)
    return Send("POST", path, json.dumps(body, allow_nan=False).encode(), headers_of(key))


def submission(code: str, options: Mapping[str, Any], key: Optional[str], callback: Any) -> Send:
    """The request that stores an execution."""
    more = {} if callback is None else {"callback": {"url": callback} if isinstance(callback, str) else callback}
    send = execute("/api/execute", code, options, key or str(uuid.uuid4()), **more)
    send.headers["Prefer"] = "respond-async"
    return send


def headers_of(key: Optional[str]) -> dict[str, str]:
    return {} if key is None else {"Idempotency-Key": key}


def result_path(execution: str) -> str:
    return f"/api/result/{quote(execution, safe='')}"


def function_path(name: str) -> str:
    return f"/api/functions/{quote(name, safe='')}"


def call_path(execution: str, seq: int) -> str:
    return f"/api/executions/{quote(execution, safe='')}/calls/{seq}"


@dataclass
class Following:
    """A run whose stream is read."""

    execution: str = ""
    over: bool = False

    def abandoned(self, send: Send) -> bool:
        """Whether the run goes on with nobody to wait for it. Callers with a key may come back."""
        return bool(self.execution) and not self.over and "Idempotency-Key" not in send.headers


@dataclass(frozen=True)
class ServerEvent:
    id: str
    name: str
    data: Any

    @property
    def execution(self) -> str:
        return self.id.partition(":")[0]


class EventReader:
    """Takes bytes and returns events. Lines end with a newline and nothing else."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._fields: dict[str, str] = {}

    def feed(self, data: bytes) -> Iterator[ServerEvent]:
        *lines, rest = data.split(b"\n")
        for piece in lines:
            line = (b"".join(self._pieces) + piece).decode()
            self._pieces = []
            if line:
                name, _, value = line.partition(": ")
                self._fields[name] = value
                continue
            fields, self._fields = self._fields, {}
            if "event" in fields:
                data = json.loads(fields.get("data", "null"), parse_int=integer)
                yield ServerEvent(fields.get("id", ""), fields["event"], data)
        self._pieces.append(rest)


def lost(cause: Optional[BaseException] = None) -> AirlockError:
    error = AirlockError(0, {"code": "unreachable", "detail": "the stream was lost"})
    error.__cause__ = cause
    return error
