"""Tests what guests can do to the program that calls them, without a gateway."""

import json
import unittest
from typing import Any

import httpx

from airlock_client import Airlock, Tool
from airlock_client.core import EventReader
from airlock_client.tools import Toolbox, failure


def wire(result: str) -> bytes:
    """A response with a result, which is JSON."""
    return ('{"id":"exec_0123456789","status":"completed","result":%s,"output":"","logs":[],"error":null,"exception":null,'
            '"limit":null,"policy":"standard","usage":{},"durationMs":1}' % result).encode()


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
