"""Functions of this program that the code of a run may call."""

from __future__ import annotations

import inspect
import json
import typing
from dataclasses import dataclass
from typing import Any, Callable, Mapping, Optional, Union

#: The bound of the gateway on the text of an error in bytes.
MAX_ERROR = 1000


@dataclass(frozen=True)
class Tool:
    """A tool with a description and schemas. A schema is a JSON Schema, or a model of pydantic."""

    execute: Callable[..., Any]
    description: Optional[str] = None
    input_schema: Any = None
    output_schema: Any = None


Tools = Mapping[str, Union[Tool, Callable[..., Any], Mapping[str, Union[Tool, Callable[..., Any]]]]]


class Toolbox:
    """The tools of one run, by the name that the gateway calls them by."""

    def __init__(self, tools: Optional[Tools]) -> None:
        self.wire: list[dict[str, Any]] = []
        self._calls: dict[str, Callable[[Any], Any]] = {}
        for name, entry in (tools or {}).items():
            if isinstance(entry, Mapping):
                for method, tool in entry.items():
                    self._add(f"{name}:{method}", tool)
            else:
                self._add(name, entry)

    def _add(self, name: str, entry: Union[Tool, Callable[..., Any]]) -> None:
        if not isinstance(entry, Tool):
            if not callable(entry):
                raise TypeError(f"the tool {name} must be a function or a Tool")
            entry = Tool(entry, inspect.getdoc(entry))
        model, derived = _parameters(entry.execute)
        if is_model(entry.input_schema):
            model = entry.input_schema
        wire: dict[str, Any] = {"name": name, "via": "caller"}
        if entry.description:
            wire["description"] = entry.description[:1000]
        schema = derived if entry.input_schema is None else entry.input_schema
        for field, given in (("inputSchema", schema), ("outputSchema", entry.output_schema)):
            if given is not None:
                wire[field] = json_schema(given)
        self.wire.append(wire)
        known = _declared(entry)

        def call(params: Any) -> Any:
            if model is not None:
                return entry.execute(validated(model, params))
            if isinstance(params, dict):
                if known is not None and not known.issuperset(params):
                    raise TypeError(f"unknown parameters: {', '.join(sorted(set(params) - known))}")
                return entry.execute(**params)
            return entry.execute(params)

        self._calls[name] = call

    def call(self, name: str, params: Any) -> Any:
        """Calls a tool. The value is a coroutine if the tool is one."""
        if name not in self._calls:
            raise LookupError(f"there is no tool {name}")
        return self._calls[name](params)


def success(value: Any) -> bytes:
    """The body of an answer with a value."""
    return json.dumps({"value": value}, default=_plain, allow_nan=False).encode()


def failure(error: Union[BaseException, str]) -> bytes:
    """The body of an answer that rejects the call. The guest sees the message, and nothing else of the error."""
    text = str(error) or type(error).__name__
    return json.dumps({"error": text.encode(errors="replace")[:MAX_ERROR].decode(errors="ignore")}).encode()


def is_model(kind: Any) -> bool:
    """Reports whether kind is a model of pydantic, which is not imported: models are known by what they can do."""
    return isinstance(kind, type) and (hasattr(kind, "model_json_schema") or
                                       hasattr(kind, "parse_obj") and hasattr(kind, "schema"))


def json_schema(schema: Any) -> Any:
    if not is_model(schema):
        return schema
    return schema.model_json_schema() if hasattr(schema, "model_json_schema") else schema.schema()


def validated(model: Any, params: Any) -> Any:
    return model.model_validate(params) if hasattr(model, "model_validate") else model.parse_obj(params)


def _plain(value: Any) -> Any:
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if is_model(type(value)):
        return json.loads(value.json())
    raise TypeError(f"the value of the tool cannot be written as JSON: {type(value).__name__}")


_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", list: "array", dict: "object"}


def _declared(tool: Tool) -> Optional[frozenset[str]]:
    """The parameters that the schema of a tool names, which are all that guests may pass: its function may have more."""
    schema = tool.input_schema
    if not isinstance(schema, Mapping) or not isinstance(schema.get("properties"), Mapping):
        return None
    if schema.get("additionalProperties") or "patternProperties" in schema:
        return None
    try:
        parameters = inspect.signature(tool.execute).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return None
    return frozenset(schema["properties"])


def _parameters(function: Callable[..., Any]) -> tuple[Any, Optional[dict[str, Any]]]:
    """The model that a function takes, and the schema of its parameters, as far as its annotations say."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
        hints = typing.get_type_hints(function)
    except (TypeError, ValueError, NameError):
        return None, None
    if len(parameters) == 1 and is_model(hints.get(parameters[0].name)):
        return hints[parameters[0].name], json_schema(hints[parameters[0].name])
    properties: dict[str, Any] = {}
    required = []
    for p in parameters:
        if p.kind not in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY):
            return None, None
        kind = hints.get(p.name)
        name = _TYPES.get(typing.get_origin(kind) or kind)
        properties[p.name] = {"type": name} if name else {}
        if p.default is p.empty:
            required.append(p.name)
    if not properties:
        return None, None
    return None, {"type": "object", "properties": properties, "required": required}
