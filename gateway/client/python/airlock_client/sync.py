"""The synchronous client."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import datetime
from typing import Any, Callable, Generator, Generic, Iterator, List, Mapping, Optional, TypeVar, Union, cast

import httpx

from . import core, wire
from .errors import AirlockError
from .result import Event, Log, Result
from .tools import Toolbox, Tools, failure, success

T = TypeVar("T")


class _Transport:
    def __init__(self, url: str, token: Optional[str], retries: int, client: Optional[httpx.Client]) -> None:
        self.url: str = core.address(url)
        self.retries: int = retries
        self.headers: dict[str, str] = {} if token is None else {"Authorization": f"Bearer {token}"}
        self.client: httpx.Client = client or httpx.Client(timeout=core.TIMEOUT)

    def send(self, send: core.Send) -> bytes:
        """Sends a request and returns the body of its response."""
        return (self._exchange(send, False))[1]

    def call(self, send: core.Send) -> Any:
        """Sends a request and returns the JSON object of its response."""
        return core.parse(self.send(send))

    def open(self, send: core.Send) -> httpx.Response:
        """Sends a request and returns its response, whose body is not read. It must be closed."""
        return (self._exchange(send, True))[0]

    def _exchange(self, send: core.Send, stream: bool) -> tuple[httpx.Response, bytes]:
        attempts = core.Attempts(send, self.retries)
        while True:
            request = self.client.build_request(send.method, self.url + send.path, content=send.body,
                                                headers={**self.headers, **send.headers})
            try:
                response = self.client.send(request, stream=True, follow_redirects=False)
                if response.is_success and stream:
                    return response, b""
                body = self._body(response)
            except httpx.RequestError as error:
                time.sleep(attempts.after_error(self.url, error))
                continue
            if response.is_success:
                return response, body
            time.sleep(attempts.after_problem(core.problem_of(response, body)))

    @staticmethod
    def _body(response: httpx.Response) -> bytes:
        body = core.Body()
        try:
            for data in response.iter_bytes():
                body.add(data)
        finally:
            response.close()
        return body.content()


class Airlock:
    """A gateway. It is safe for concurrent use, and a context manager that closes its connections."""

    def __init__(self, transport: _Transport) -> None:
        self._transport = transport
        #: Saved functions.
        self.functions: Functions = Functions(transport)
        #: Executions that share one state.
        self.sessions: Sessions = Sessions(transport)
        #: Executions that wait for people.
        self.approvals: Approvals = Approvals(transport)
        #: Audit records.
        self.records: Records = Records(transport)

    @classmethod
    def connect(cls, url: str, token: Optional[str] = None, *, retries: int = 2,
                client: Optional[httpx.Client] = None) -> "Airlock":
        """Returns the gateway at an address. It connects with the first request. retries is how often a request is sent
        again if the gateway is busy or cannot be reached."""
        return cls(_Transport(url, token, retries, client))

    def close(self) -> None:
        self._transport.client.close()

    def __enter__(self) -> "Airlock":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(self, code: str, *, tools: Optional[Tools] = None, on_log: Optional[Callable[[Log], None]] = None,
            idempotency_key: Optional[str] = None, **options: Any) -> Result[Any]:
        """Runs code and waits for its result. A failure of the code is a result: look at its status, or ask for its
        value(). An AirlockError means that the request, the caller or the platform is at fault.

        options are the other fields of a request, such as input, files, policy, timeout (in milliseconds) and limits.
        """
        if tools is None and on_log is None:
            send = core.execute("/api/execute", code, options, idempotency_key)
            return Result(self._transport.call(send))
        for event in self.stream(code, tools=tools, idempotency_key=idempotency_key, **options):
            if event.log is not None and on_log is not None:
                on_log(event.log)
            if event.result is not None:
                return event.result
        raise core.lost()

    def stream(self, code: str, *, tools: Optional[Tools] = None, idempotency_key: Optional[str] = None,
               **options: Any) -> Iterator[Event[Any]]:
        """Runs code and yields its events as they happen; the result comes last. Closing the iterator cancels the
        run, unless there is an idempotency key. The client reconnects after a lost connection. Tools are called on
        threads."""
        toolbox = Toolbox(tools)
        send = core.execute("/api/execute/stream", code, options, idempotency_key, toolbox)
        with ThreadPoolExecutor(16, "airlock-tool") as pool, closing(self._events(send)) as events:
            for event in events:
                if event.name == "chunk":
                    yield Event("log", log=Log(event.data["level"], event.data["chunk"].removesuffix("\n")))
                elif event.name == "call":
                    pool.submit(self._answer, toolbox, event)
                    yield Event("call", tool=event.data["tool"], params=event.data["params"])
                elif event.name in ("complete", "paused"):
                    yield Event("result", result=Result(event.data))
                elif event.name == "error":
                    raise core.problem_event(event.data)

    def _events(self, send: core.Send) -> Generator[core.ServerEvent, None, None]:
        """Yields the events of a stream up to its last."""
        following = core.Following()
        try:
            with closing(self._followed(send, following)) as events:
                for event in events:
                    yield event
        finally:
            if following.abandoned(send):
                self._abandon(following.execution)

    def _followed(self, send: core.Send, following: core.Following) -> Generator[core.ServerEvent, None, None]:
        for lost in range(core.RESUMPTIONS + 1):
            response = self._transport.open(send)
            following.execution = response.headers.get("X-Execution-Id", following.execution)
            cause: Optional[BaseException] = None
            reader = core.EventReader()
            try:
                for data in response.iter_bytes():
                    for event in reader.feed(data):
                        send.headers["Last-Event-ID"] = event.id
                        if following.takes(event):
                            yield event
                        if following.over:
                            return
            except httpx.RequestError as error:
                cause = error
            finally:
                response.close()
            if "Last-Event-ID" not in send.headers or lost == core.RESUMPTIONS:
                raise core.lost(cause)

    def _abandon(self, execution: str) -> None:
        """Cancels a run that nobody waits for any more. Without it, the gateway would keep the run for a client that
        comes back."""
        path, headers = self._transport.url + core.result_path(execution), self._transport.headers
        try:
            self._transport.client.delete(path, headers=headers, timeout=core.ABANDON_WITHIN)
        except httpx.HTTPError:
            pass  # the gateway stops the run a little later

    def _answer(self, toolbox: Toolbox, event: core.ServerEvent) -> None:
        """Calls a tool and sends the answer. A failure ends the call, and the guest reads the reason."""
        try:
            body = success(toolbox.call(event.data["tool"], event.data["params"]))
        except BaseException as error:  # of this thread, which ends here: a SystemExit would leave the call unanswered
            body = failure(error)
        path = core.call_path(event.execution, event.data["seq"])
        try:
            self._transport.send(core.Send("POST", path, body))
        except AirlockError as error:
            if error.status in (400, 413):
                try:
                    self._transport.send(core.Send("POST", path, failure(f"the answer was refused: {error}")))
                except AirlockError:
                    pass  # the run has ended

    def submit(self, code: str, *, idempotency_key: Optional[str] = None,
               callback: Union[str, Mapping[str, str], None] = None, **options: Any) -> "Execution[Any]":
        """Stores code to be run soon, and returns without waiting for it. It survives a restart of the gateway."""
        accepted = self._transport.call(core.submission(code, options, idempotency_key, callback))
        return Execution(self._transport, accepted["id"])

    def execution(self, id: str) -> "Execution[Any]":
        """Returns the execution with an id that submit returned earlier."""
        return Execution(self._transport, id)

    def analyze(self, code: str, **options: Any) -> wire.Analysis:
        """Returns the verdict of the policy on code, which does not run."""
        send = core.execute("/api/analyze", code, options, None)
        return cast(wire.Analysis, self._transport.call(send))


class Execution(Generic[T]):
    """An execution that was submitted and runs without its caller."""

    def __init__(self, transport: _Transport, id: str) -> None:
        self._transport = transport
        self.id: str = id

    def poll(self) -> Optional[Result[T]]:
        """Returns the result, or None while the execution is queued or running."""
        found = self._transport.call(core.Send("GET", core.result_path(self.id)))
        return None if found["status"] in ("queued", "running") else Result(found)

    def wait(self, timeout: Optional[float] = None, *, end: bool = False) -> Result[T]:
        """Waits until the execution ends or pauses, and returns its result. With end, it keeps waiting while the
        execution is paused. timeout, in seconds, ends the wait with a TimeoutError, and not the execution."""
        deadline = None if timeout is None else time.monotonic() + timeout
        pause = 0.05
        while True:
            result = self.poll()
            if result is not None and not (end and result.status == "paused"):
                return result
            if deadline is not None and time.monotonic() + pause > deadline:
                raise TimeoutError(f"{self.id} has not ended within {timeout} seconds")
            time.sleep(pause)
            pause = min(pause * 1.5, 5)

    def send_event(self, name: str, value: Any = None) -> Union[wire.PausedExecution, Result[Any]]:
        """Sends an event: it ends the oldest airlock.waitForEvent(name) of the execution with the value. It waits up to
        30 seconds, until the execution ends or pauses again, and returns the result or the state of the execution."""
        answer = self._transport.call(core.event(self.id, name, value))
        return Result(answer) if core.ended(answer) else cast(wire.PausedExecution, answer)

    def cancel(self) -> None:
        """Cancels the execution: what waits never runs, and what runs is stopped."""
        self._transport.send(core.Send("DELETE", core.result_path(self.id)))


class Functions:
    """Saved functions: airlock.functions."""

    def __init__(self, transport: _Transport) -> None:
        self._transport = transport

    def save(self, name: str, definition: Union[str, Mapping[str, Any]]) -> wire.Function:
        """Saves a version. Saving the same content again returns the existing version."""
        body = {"code": definition} if isinstance(definition, str) else definition
        send = core.Send("PUT", core.function_path(name), json.dumps(body).encode())
        return cast(wire.Function, self._transport.call(send))

    def invoke(self, name: str, input: Any = None, *, idempotency_key: Optional[str] = None,
               **options: Any) -> Result[Any]:
        """Runs a saved function and waits. Without version and alias, the latest version runs."""
        send = core.Send("POST", core.function_path(name) + "/invoke", json.dumps({"input": input, **options}).encode(),
                         core.headers_of(idempotency_key))
        return Result(self._transport.call(send))

    def list(self) -> Iterator[wire.Function]:
        """Returns all saved functions."""
        return cast(Iterator[wire.Function], _pages(self._transport, "/api/functions"))

    def get(self, name: str, *, version: Optional[int] = None, alias: Optional[str] = None) -> wire.FunctionWithCode:
        """Returns a function and what one of its versions runs: the latest, unless version or alias names another."""
        path = core.function_path(name) + core.query(version=version, alias=alias)
        return cast(wire.FunctionWithCode, self._transport.call(core.Send("GET", path)))

    def delete(self, name: str) -> None:
        """Deletes a function with all its versions."""
        self._transport.send(core.Send("DELETE", core.function_path(name)))

    def versions(self, name: str) -> List[wire.FunctionVersion]:
        """Returns the versions of a function, newest first."""
        return cast("List[wire.FunctionVersion]", self._items(core.function_path(name, "versions")))

    def diff(self, name: str, from_version: Optional[int] = None, to_version: Optional[int] = None) -> wire.FunctionDiff:
        """Compares two versions: to_version is the latest by default, and from_version the one before it."""
        path = core.function_path(name, "diff") + core.query(**{"from": from_version, "to": to_version})
        return cast(wire.FunctionDiff, self._transport.call(core.Send("GET", path)))

    def aliases(self, name: str) -> List[wire.FunctionAlias]:
        """Returns the aliases of a function, sorted by name."""
        return cast("List[wire.FunctionAlias]", self._items(core.function_path(name, "aliases")))

    def set_alias(self, name: str, alias: str, version: int) -> wire.FunctionAlias:
        """Makes or moves an alias."""
        send = core.Send("PUT", core.function_path(name, "aliases", alias), json.dumps({"version": version}).encode())
        return cast(wire.FunctionAlias, self._transport.call(send))

    def delete_alias(self, name: str, alias: str) -> None:
        """Deletes an alias, and not the version that it points at."""
        self._transport.send(core.Send("DELETE", core.function_path(name, "aliases", alias)))

    def rollback(self, name: str, alias: str = "latest") -> wire.FunctionAlias:
        """Points an alias at the version that it pointed at before."""
        send = core.post(core.function_path(name, "rollback"), {"alias": alias})
        return cast(wire.FunctionAlias, self._transport.call(send))

    def _items(self, path: str) -> List[Any]:
        return list(_pages(self._transport, path))


def _pages(transport: _Transport, path: str) -> Iterator[Any]:
    """Yields the items of all pages of a list."""
    following: Optional[str] = path
    while following:
        page = transport.call(core.Send("GET", following))
        following = core.next_page(path, following, page)
        yield from page["items"]


class Sessions:
    """Executions that share one state: airlock.sessions."""

    def __init__(self, transport: _Transport) -> None:
        self._transport = transport

    def create(self, policy: Optional[str] = None, max_age: Optional[float] = None) -> "Session":
        """Creates a session. It expires after max_age milliseconds, a day by default."""
        return self._made(core.session(policy, max_age))

    def get(self, id: str) -> "Session":
        """Returns a session by its id."""
        return self._made(core.Send("GET", core.session_path(id)))

    def list(self) -> Iterator["Session"]:
        """Returns all sessions of the caller."""
        return (Session(self._transport, info) for info in _pages(self._transport, "/api/sessions"))

    def _made(self, send: core.Send) -> "Session":
        return Session(self._transport, self._transport.call(send))


class Session:
    """A session. The top-level declarations of a step are there for the next one."""

    def __init__(self, transport: _Transport, info: wire.Session) -> None:
        self._transport = transport
        self.info: wire.Session = info
        self.id: str = info["id"]

    def run(self, code: str, *, idempotency_key: Optional[str] = None, **options: Any) -> Result[Any]:
        """Runs code as the next step, and waits. A step that fails changes nothing."""
        send = core.execute(core.session_path(self.id, "/execute"), code, options, idempotency_key)
        return Result(self._transport.call(send))

    def fork(self, step: Optional[int] = None) -> "Session":
        """Creates a session from the state after a step, the last one by default."""
        send = core.post(core.session_path(self.id, "/fork"), {} if step is None else {"step": step})
        return Session(self._transport, self._transport.call(send))

    def delete(self) -> None:
        """Ends the session."""
        self._transport.send(core.Send("DELETE", core.session_path(self.id)))


class Approvals:
    """Executions that wait for people: airlock.approvals. Deciding needs a token with the scope approve."""

    def __init__(self, transport: _Transport) -> None:
        self._transport = transport

    def list(self) -> Iterator[wire.PausedExecution]:
        """Returns the executions that have paused: all that the caller may decide about, otherwise the caller's own."""
        return cast(Iterator[wire.PausedExecution], _pages(self._transport, "/api/executions?status=paused"))

    def get(self, id: str) -> Union[wire.PausedExecution, Result[Any]]:
        """Returns an execution that has paused, with its code, or its result if it has ended."""
        return self._read(core.Send("GET", core.paused_path(id)))

    def decide(self, id: str, *decisions: Mapping[str, Any]) -> Union[wire.PausedExecution, Result[Any]]:
        """Decides about what an execution waits for: {"seq": 1, "decision": "approve"}, or edit with args, respond with
        value, or reject, and a reason. It waits up to 30 seconds, until the execution ends or pauses again, and returns
        the result or the state of the execution."""
        return self._read(core.post(core.paused_path(id, "/resume"), {"decisions": decisions}))

    def _read(self, send: core.Send) -> Union[wire.PausedExecution, Result[Any]]:
        answer = self._transport.call(send)
        return Result(answer) if core.ended(answer) else cast(wire.PausedExecution, answer)


class Records:
    """Audit records: airlock.records. Reading them needs a token with the scope audit:read."""

    def __init__(self, transport: _Transport) -> None:
        self._transport = transport

    def get(self, id: str) -> wire.Record:
        """Returns the record of an execution."""
        return cast(wire.Record, self._transport.call(core.Send("GET", core.record_path(id))))

    def list(self, *, status: Optional[str] = None, policy: Optional[str] = None, function: Optional[str] = None,
             since: Optional[datetime] = None, until: Optional[datetime] = None) -> Iterator[wire.Record]:
        """Returns records, newest first, from since and before until, and reads page after page."""
        query = core.query(status=status, policy=policy, function=function, since=since, until=until)
        return cast(Iterator[wire.Record], _pages(self._transport, "/api/audit/executions" + query))
