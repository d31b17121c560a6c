"""Tests the tool of LangChain against a gateway. Where langchain-core is not installed, a class with the parameters of
its StructuredTool.from_function stands for it."""

import asyncio
import json
import os
import sys
import types
import unittest
from typing import Any, Callable, Optional

from airlock_client import Airlock, AirlockError, AsyncAirlock

try:
    import langchain_core.tools  # noqa: F401
except ImportError:
    class StructuredTool:
        def __init__(self, func: Any, coroutine: Any, name: Any, description: Any, args_schema: Any) -> None:
            self.func, self.coroutine, self.name = func, coroutine, name
            self.description, self.args_schema = description, args_schema

        @classmethod
        def from_function(cls, func: Optional[Callable[..., Any]] = None, coroutine: Optional[Callable[..., Any]] = None,
                          name: Optional[str] = None, description: Optional[str] = None, return_direct: bool = False,
                          args_schema: Any = None, infer_schema: bool = True) -> "StructuredTool":
            return cls(func, coroutine, name, description, args_schema)

        def invoke(self, given: dict[str, Any]) -> Any:
            return self.func(**given)

        async def ainvoke(self, given: dict[str, Any]) -> Any:
            return await self.coroutine(**given)

    tools = types.ModuleType("langchain_core.tools")
    tools.StructuredTool = StructuredTool  # type: ignore[attr-defined]
    sys.modules["langchain_core"], sys.modules["langchain_core.tools"] = types.ModuleType("langchain_core"), tools

from airlock_client.langchain import airlock_tool  # noqa: E402

URL, TOKEN = os.environ["AIRLOCK_URL"], os.environ["AIRLOCK_TOKEN"]


def weather(city: str) -> dict[str, Any]:
    """The weather of a city."""
    return {"degrees": 21 if city == "Rome" else 12}


CODE = "const [a, b] = [await weather({city: 'Rome'}), await weather({city: 'Oslo'})]; return a.degrees - b.degrees"


class LangChainTest(unittest.TestCase):
    def setUp(self) -> None:
        self.airlock = Airlock.connect(URL, TOKEN)
        self.addCleanup(self.airlock.close)

    def test_tool(self) -> None:
        tool = airlock_tool(self.airlock, tools={"weather": weather}, policy="strict")
        self.assertEqual((tool.name, tool.args_schema["required"]), ("run_code", ["code"]))
        self.assertRegex(tool.description, r"- await weather\(\{.*\"city\".*\}\): The weather of a city\.")
        self.assertEqual(json.loads(tool.invoke({"code": CODE})), {"result": 9})

    def test_async_tool(self) -> None:
        async def run() -> Any:
            async with AsyncAirlock.connect(URL, TOKEN) as airlock:
                return await airlock_tool(airlock, name="js", tools={"weather": weather}).ainvoke({"code": CODE})

        self.assertEqual(json.loads(asyncio.run(run())), {"result": 9})

    def test_failures(self) -> None:
        tool = airlock_tool(self.airlock, description="Runs code.", timeout=100)
        self.assertEqual(tool.description, "Runs code.")
        self.assertEqual(json.loads(tool.invoke({"code": "console.log('on')\nnull.x"})), {
            "status": "error", "error": "TypeError: Cannot read properties of null (reading 'x')", "at": "line 2",
            "output": "on\n"})
        self.assertEqual(json.loads(tool.invoke({"code": "for (;;);"}))["limit"], "wall")
        blocked = json.loads(tool.invoke({"code": "require('child_process').execSync('id')"}))
        self.assertEqual(blocked["status"], "blocked")
        self.assertRegex(" ".join(blocked["violations"]), "child_process.*line 1")
        long = json.loads(tool.invoke({"code": "'é'.repeat(50_000)"}))
        self.assertEqual((len(long["result"]), "return less" in long["truncated"]), (16_000, True))
        with self.assertRaises(AirlockError):
            airlock_tool(self.airlock, policy="none such").invoke({"code": "1"})


if __name__ == "__main__":
    unittest.main()
