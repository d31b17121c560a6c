"""What the synchronous and the asynchronous client share: requests, problems and events, without input and output."""

from __future__ import annotations

import base64
import json
import time
import uuid
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Iterator, Mapping, Optional, Union
from urllib.parse import quote, urlsplit

import httpx

from .errors import AirlockError
from .tools import Toolbox

#: The longest wait that the gateway may ask for between two tries, in seconds: a limit for a minute asks for up to 61.
LONGEST_WAIT = 90.0
#: The codes of problems after which code may have run.
UNCERTAIN = frozenset({"unavailable", "unrecorded", "unknown"})
#: How often the client reconnects to a stream whose connection is lost.
RESUMPTIONS = 5
#: How long the cancellation of an abandoned run may take, in seconds.
ABANDON_WITHIN = 5.0
#: The timeout of a request, in seconds: a run waits for its place, and then runs. Silent streams have heartbeats.
TIMEOUT = httpx.Timeout(900.0, connect=10.0)

#: The longest response, or event of a stream, in bytes.
LONGEST_ANSWER = 64 << 20
#: How long a response may take from its first byte to its last, in seconds.
ANSWER_WITHIN = 900.0

OPTIONS = frozenset({
    "input", "context", "files", "entry", "language", "policy", "timeout", "memory", "limits", "seed", "engine",
    "priority", "hosts", "secrets", "debug", "args",
})


#: The most digits of a number that is read as an integer.
LONGEST_INTEGER = 400


def integer(text: str) -> Union[int, float]:
    """The integer of a JSON text. Guests may write a million digits, for which int() fails, or takes minutes."""
    return int(text) if len(text) <= LONGEST_INTEGER else float(text)


def invalid(how: str) -> AirlockError:
    """The error about an answer that no gateway sends."""
    return AirlockError(0, {"code": "invalid_answer", "detail": f"the gateway's answer {how}"})


def parse(body: bytes) -> dict[str, Any]:
    """The object of a JSON text."""
    try:
        value = json.loads(body, parse_int=integer)
    except (ValueError, RecursionError):
        raise invalid("is not JSON") from None
    if not isinstance(value, dict):
        raise invalid("is not an object")
    return value


class Body:
    """Takes the body of a response, within the bounds of one."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._length, self._end = 0, time.monotonic() + ANSWER_WITHIN

    def add(self, data: bytes) -> None:
        self._pieces.append(data)
        self._length += len(data)
        if self._length > LONGEST_ANSWER:
            raise invalid("is too long")
        if time.monotonic() > self._end:
            raise invalid("does not end")

    def content(self) -> bytes:
        return b"".join(self._pieces)


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
        self.send: Send = send
        self.left: int = retries
        self.pause: float = 0.25

    def after_error(self, url: str, error: httpx.RequestError) -> float:
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
        document: Mapping[str, Any] = parse(body)
    except AirlockError:
        document = {}
    try:
        after = float(response.headers.get("Retry-After", ""))
    except ValueError:
        after = None
    return AirlockError(response.status_code, document, after if after is not None and after > 0 else None)


def problem_event(data: Mapping[str, Any]) -> AirlockError:
    """The error of the last event of a stream."""
    status = data.get("status")
    return AirlockError(status if isinstance(status, int) else 0, data)


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
    send = execute("/api/execute", code, options, key or str(uuid.uuid4()), None, **more)
    send.headers["Prefer"] = "respond-async"
    return send


def headers_of(key: Optional[str]) -> dict[str, str]:
    return {} if key is None else {"Idempotency-Key": key}


def result_path(execution: str) -> str:
    return f"/api/result/{quote(execution, safe='')}"


def function_path(name: str, *rest: str) -> str:
    return "/".join(["/api/functions", *(quote(part, safe="") for part in (name, *rest))])


def query(**given: Any) -> str:
    """The query string of what is not None, or "". Times are written in RFC 3339; those without a zone are local."""
    written = {name: value.astimezone().isoformat() if isinstance(value, datetime) else value
               for name, value in given.items() if value is not None}
    return f"?{httpx.QueryParams(written)}" if written else ""


def record_path(execution: str) -> str:
    return f"/api/audit/execution/{quote(execution, safe='')}"


def event(execution: str, name: str, value: Any) -> Send:
    """The request that sends an event to an execution."""
    return post(paused_path(execution, f"/events/{quote(name, safe='')}"), value)


def session_path(id: str, more: str = "") -> str:
    return f"/api/sessions/{quote(id, safe='')}{more}"


def session(policy: Optional[str], max_age: Optional[float]) -> Send:
    """The request that makes a session."""
    given = {"policy": policy, "maxAge": max_age}
    return post("/api/sessions", {name: value for name, value in given.items() if value is not None})


def paused_path(execution: str, more: str = "") -> str:
    return f"/api/executions/{quote(execution, safe='')}{more}"


def post(path: str, body: Any) -> Send:
    return Send("POST", path, json.dumps(body, allow_nan=False).encode())


def next_page(path: str, this: str, page: Mapping[str, Any]) -> Optional[str]:
    """The path of the page of a list after this one."""
    if not isinstance(page.get("items"), list):
        raise invalid("is not a page of a list")
    if not page.get("next"):
        return None
    following = path + ("&" if "?" in path else "?") + str(httpx.QueryParams(cursor=page["next"]))
    if following == this:
        raise invalid("is not a page of a list")
    return following


def ended(answer: Any) -> bool:
    """Whether an answer about a paused execution is its result."""
    return not ("waiting" in answer and "segment" in answer)


def call_path(execution: str, seq: int) -> str:
    return f"/api/executions/{quote(execution, safe='')}/calls/{seq}"


@dataclass
class Following:
    """A run whose stream is read."""

    execution: str = ""
    over: bool = False
    called: set[int] = field(default_factory=set)

    def takes(self, event: "ServerEvent") -> bool:
        """Reports whether an event counts: a call counts once. It fails if no gateway sends such an event."""
        if event.name not in ("chunk", "call", "complete", "paused", "error"):
            return False
        data = event.data
        if not isinstance(data, dict):
            raise invalid("has an event that is not an object")
        if event.name == "chunk" and not (isinstance(data.get("chunk"), str) and isinstance(data.get("level"), str)):
            raise invalid("has output that is not text")
        if event.name == "call":
            seq = data.get("seq")
            if type(seq) is not int or not isinstance(data.get("tool"), str) or "params" not in data:
                raise invalid("has a call of no tool")
            if seq in self.called:
                return False
            self.called.add(seq)
        self.over = event.name in ("complete", "paused", "error")
        return True

    def abandoned(self, send: Send) -> bool:
        """Whether nobody waits for the run any more, so that it must be cancelled. Callers with a key may come back."""
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
        self._length = 0  # of the event that is not complete

    def feed(self, data: bytes) -> Iterator[ServerEvent]:
        *lines, rest = data.split(b"\n")
        self._length += len(data)
        for piece in lines:
            line = (b"".join(self._pieces) + piece).decode(errors="replace")
            self._pieces = []
            if line:
                name, _, value = line.partition(": ")
                if name in ("id", "event", "data"):
                    self._fields[name] = value
                continue
            fields, self._fields, self._length = self._fields, {}, 0
            if "event" in fields:
                try:
                    value = json.loads(fields.get("data", "null"), parse_int=integer)
                except (ValueError, RecursionError):
                    raise invalid("has an event that is not JSON") from None
                yield ServerEvent(fields.get("id", ""), fields["event"], value)
        self._pieces.append(rest)
        if self._length > LONGEST_ANSWER:
            raise invalid("has an event that is too long")


def lost(cause: Optional[BaseException] = None) -> AirlockError:
    error = AirlockError(0, {"code": "unreachable", "detail": "the stream was lost"})
    error.__cause__ = cause
    return error
