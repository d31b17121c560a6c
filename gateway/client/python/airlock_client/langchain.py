"""A tool of LangChain with which a model runs code. It needs the package langchain-core."""

from __future__ import annotations

from typing import Any, Optional, Union

from langchain_core.tools import StructuredTool

from .aio import AsyncAirlock
from .code_tool import PARAMETERS, describe, read
from .sync import Airlock


def airlock_tool(airlock: Union[Airlock, AsyncAirlock], *, name: str = "run_code", description: Optional[str] = None,
                 **options: Any) -> StructuredTool:
    """Returns a tool for model.bind_tools([airlock_tool(airlock)]). options are those of run, such as tools, which are
    functions that the code may call. An AsyncAirlock makes a tool that can only be awaited."""
    given: dict[str, Any] = {
        "name": name, "args_schema": PARAMETERS,
        "description": description or describe(options.get("tools"), options.get("language")),
    }
    if isinstance(airlock, AsyncAirlock):
        awaited = airlock

        async def run_async(code: str) -> str:
            return read(await awaited.run(code, **options))

        return StructuredTool.from_function(coroutine=run_async, **given)
    plain = airlock

    def run(code: str) -> str:
        return read(plain.run(code, **options))

    return StructuredTool.from_function(func=run, **given)
