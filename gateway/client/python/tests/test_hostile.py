"""Tests what guests can do to the program that calls them, without a gateway."""

import json
import unittest
from unittest import mock
from typing import Any, Iterator

import httpx

from airlock_client import Airlock, AirlockError, Tool
from airlock_client.core import Attempts, EventReader, Send
from airlock_client.tools import Toolbox, failure


def wire(result: str) -> bytes:
    """A response with a result, which is JSON."""
    return ('{"id":"exec_0123456789","status":"completed","result":%s,"output":"","logs":[],"error":null,"exception":null,'
            '"limit":null,"policy":"standard","usage":{},"durationMs":1}' % result).encode()


class AttemptsTest(unittest.TestCase):
    def test_waits(self) -> None:
        for asked, want in [("7", 7), ("61", 61), ("3600", None)]:
            with self.subTest(asked):
                refusal = AirlockError(429, {"code": "rate_limited"}, float(asked))
                attempts = Attempts(Send("POST", "/api/execute"), 1)
                if want is None:
                    self.assertRaises(AirlockError, attempts.after_problem, refusal)
                else:
                    self.assertEqual(attempts.after_problem(refusal), want)


class HostileTest(unittest.TestCase):
    def test_numbers(self) -> None:
        for text, want in [("1" * 100_000, float("inf")), ("-" + "1" * 100_000, float("-inf")), ("1e400", float("inf")),
                           ("1" * 400, int("1" * 400)), ("-12", -12), ("0.5", 0.5)]:
            with self.subTest(text[:10]):
                body = wire(text)
                http = httpx.Client(transport=httpx.MockTransport(lambda _: httpx.Response(200, content=body)))
                with Airlock.connect("http://localhost", client=http) as airlock:
                    self.assertEqual(airlock.run("1").value(), want)
                (event,) = EventReader().feed(b"event: call\ndata: {\"params\":" + text.encode() + b"}\n\n")
                self.assertEqual(event.data["params"], want)

    def test_parameters(self) -> None:
        def pay(amount: int, dry_run: bool = True) -> Any:
            return {"amount": amount, "dry_run": dry_run}

        schema = {"type": "object", "properties": {"amount": {"type": "integer"}}, "required": ["amount"]}
        tools = Toolbox({"pay": Tool(pay, input_schema=schema), "open": Tool(
            pay, input_schema={**schema, "additionalProperties": True})})
        self.assertEqual(tools.call("pay", {"amount": 1}), {"amount": 1, "dry_run": True})
        with self.assertRaisesRegex(TypeError, "unknown parameters: dry_run"):
            tools.call("pay", {"amount": 1, "dry_run": False})
        self.assertEqual(tools.call("open", {"amount": 1, "dry_run": False})["dry_run"], False)

    def test_names(self) -> None:
        tools = Toolbox({"a": lambda: 1})
        for name in ("__class__", "b", "a:__init__", ""):
            with self.assertRaises(LookupError):
                tools.call(name, {})

    def test_failures(self) -> None:
        for text in ("\ud800", "\x1b]0;title\x07", "é" * 5000, ""):
            answer = json.loads(failure(ValueError(text)))
            self.assertLessEqual(len(answer["error"].encode()), 1000)
            self.assertNotEqual(answer["error"], "")


class GatewayTest(unittest.TestCase):
    """What a hostile gateway can do."""

    def gateway(self, respond: Any) -> Airlock:
        def handle(request: httpx.Request) -> httpx.Response:
            if "/calls/" in request.url.path or request.method == "DELETE":
                return httpx.Response(200, content=b"{}")
            return respond(request)

        airlock = Airlock.connect("http://gateway.test", "secret", retries=0,
                                  client=httpx.Client(transport=httpx.MockTransport(handle)))
        self.addCleanup(airlock.close)
        return airlock

    def refused(self, code: str, respond: Any, **options: Any) -> AirlockError:
        with self.assertRaises(AirlockError) as refused:
            self.gateway(respond).run("1", **options)
        self.assertEqual(refused.exception.code, code, refused.exception)
        return refused.exception

    @staticmethod
    def body(content: Any, status: int = 200) -> Any:
        return lambda _: httpx.Response(status, content=content, headers={"X-Execution-Id": "exec_1"})

    @staticmethod
    def endless(chunk: bytes) -> Any:
        def chunks() -> Iterator[bytes]:
            for _ in range(200):
                yield chunk * ((1 << 20) // len(chunk))
            raise AssertionError("it reads for ever")

        return lambda _: httpx.Response(200, content=chunks())

    def test_answers(self) -> None:
        for content in (b"", b"null", b"7", b"{", b"<html>", b"\0", b"\xff", b"[" * 100_000, b'{"id":1}', b'{"id":"x"}'):
            with self.subTest(content[:10]):
                self.refused("invalid_answer", self.body(content))
        self.refused("invalid_answer", self.endless(b"x"))
        for detail in (b"null", b"7", b"{}", b"[]"):
            error = self.refused("unknown", self.body(b'{"detail":%s,"code":%s}' % (detail, detail), 400))
            self.assertEqual(str(error), "the gateway answered 400")
        with self.assertRaises(AirlockError):
            list(self.gateway(self.body(b'{"items":[1],"next":"a"}')).functions.list())

    def test_slow_answers(self) -> None:
        with mock.patch("airlock_client.core.ANSWER_WITHIN", -1.0):
            self.refused("invalid_answer", self.body(wire("1")))

    def test_streams(self) -> None:
        def event(name: bytes, data: bytes) -> bytes:
            return b"id: exec_1:1\nevent: " + name + b"\ndata: " + data + b"\n\n"

        for code, content in [
            ("invalid_answer", event(b"chunk", b"{")), ("invalid_answer", event(b"chunk", b"null")),
            ("invalid_answer", event(b"chunk", b'{"level":"log","chunk":7}')),
            ("invalid_answer", event(b"call", b'{"seq":"../x","tool":"a","params":{}}')),
            ("invalid_answer", event(b"call", b'{"seq":1,"params":{}}')), ("invalid_answer", event(b"complete", b"{}")),
            ("c", event(b"error", b'{"status":{},"code":"c"}')), ("unreachable", b"garbage\n\n:\n\n\xff\n\n"),
            ("unreachable", event(b"ping", b"{}")[:-1]),
        ]:
            with self.subTest(content):
                self.refused(code, self.body(content), on_log=print)
        self.refused("invalid_answer", self.endless(b"data: x"), on_log=print)
        self.refused("invalid_answer", self.endless(b"x: y\n"), on_log=print)

    def test_calls(self) -> None:
        ran = []
        call = b'id: exec_1:1\nevent: call\ndata: {"seq":%d,"tool":"%s","params":{}}\n\n'
        content = b"".join([call % (1, b"none"), call % (2, b"__class__"), call % (4, b"pay"), call % (4, b"pay"),
                            b"event: complete\ndata: " + wire("1") + b"\n\n", call % (5, b"pay")])
        result = self.gateway(self.body(content)).run("1", tools={"pay": lambda: ran.append(1)})
        self.assertEqual((result.value(), ran), (1, [1]))

    def test_redirects(self) -> None:
        asked = []

        def respond(request: httpx.Request) -> httpx.Response:
            asked.append(request.url.host)
            return httpx.Response(307, headers={"Location": "http://elsewhere.test/"})

        self.assertEqual(self.refused("unknown", respond).status, 307)
        self.assertEqual(asked, ["gateway.test"])
