"""A tool with which a model runs code, independent of any framework."""

from __future__ import annotations

import json
from typing import Any, Optional

from .result import Result
from .tools import Tools, Toolbox

#: The most characters of a result, and of an output, that the model reads.
SHOWN = 16_000

#: The most reasons of a refusal that the model reads.
REASONS = 10

#: The JSON Schema of the tool's parameters.
PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {"code": {
        "type": "string", "description": "Statements with return and top-level await, or one expression."}},
    "required": ["code"],
    "additionalProperties": False,
}


def describe(tools: Optional[Tools] = None, language: Optional[str] = None) -> str:
    """Returns the description of the tool, with the functions that code may call."""
    functions = []
    for tool in Toolbox(tools).wire:
        schema = json.dumps(tool["inputSchema"]) if "inputSchema" in tool else "params"
        said = f": {tool['description']}" if "description" in tool else ""
        functions.append(f"- await {tool['name'].replace(':', '.')}({schema}){said}")
    text = (f"Runs {'TypeScript' if language == 'typescript' else 'JavaScript'} in a fresh sandbox and returns its "
            "value. Print with console.log. Nothing is kept between calls.")
    if functions:
        text += " One script can call several of these functions:\n" + "\n".join(functions)
    return text


def read(result: Result[Any]) -> str:
    """Returns what the model reads of a run: JSON with the result and the console's output, or why it failed."""
    value = json.dumps(result.result, ensure_ascii=False)
    shown: dict[str, Any] = {"status": result.status, "error": result.error}
    if result.ok:
        shown = {"result": value[:SHOWN] if len(value) > SHOWN else result.result}
    line = (result.exception or {}).get("line")
    if line:
        shown["at"] = f"line {line}"
    violations = result.wire.get("violations")
    if result.status == "blocked" and isinstance(violations, list):
        shown["violations"] = violations[:REASONS]
    if result.limit is not None:
        shown["limit"] = result.limit
    if result.output:
        shown["output"] = result.output[:SHOWN]
    if max(len(value), len(result.output)) > SHOWN:
        shown["truncated"] = f"cut after {SHOWN} characters; return less"
    return json.dumps(shown, ensure_ascii=False).encode(errors="replace").decode()
