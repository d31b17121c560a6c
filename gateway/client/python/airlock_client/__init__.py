"""Runs untrusted JavaScript and TypeScript on an Airlock gateway. Start with Airlock.connect, or AsyncAirlock.connect."""

from .aio import AsyncAirlock, AsyncExecution, AsyncFunctions
from .errors import AirlockError, ExecutionError
from .result import Event, Log, Result
from .sync import Airlock, Execution, Functions
from .tools import Tool

__all__ = [
    "Airlock", "AirlockError", "AsyncAirlock", "AsyncExecution", "AsyncFunctions", "Event", "Execution",
    "ExecutionError", "Functions", "Log", "Result", "Tool",
]
