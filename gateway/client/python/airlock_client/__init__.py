"""Runs untrusted JavaScript and TypeScript on an Airlock gateway. Start with Airlock.connect, or AsyncAirlock.connect."""

from .aio import AsyncAirlock, AsyncApprovals, AsyncExecution, AsyncFunctions, AsyncRecords, AsyncSession, AsyncSessions
from .errors import AirlockError, ExecutionError
from .result import Event, Log, Result
from .sync import Airlock, Approvals, Execution, Functions, Records, Session, Sessions
from .tools import Tool

__all__ = [
    "Airlock", "AirlockError", "Approvals", "AsyncAirlock", "AsyncApprovals", "AsyncExecution", "AsyncFunctions",
    "AsyncRecords", "AsyncSession", "AsyncSessions", "Event", "Execution", "ExecutionError", "Functions", "Log", "Records",
    "Result", "Session", "Sessions", "Tool",
]
