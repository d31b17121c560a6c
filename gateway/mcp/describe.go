package mcp

import (
	"fmt"
	"slices"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/openapi"
)

const instructions = "" +
	"Airlock runs JavaScript and TypeScript in a fresh sandbox per call and records every execution. " +
	"Use execute_code to compute, to transform data, or to combine several tool calls in one script; print with " +
	"console.log and return the value. " +
	"A run that fails is a result with isError whose status, error, exception and limit say why: fix the code and " +
	"call again."

// described is a tool as clients see it, and the func that carries it out.
type described struct {
	tool  *sdk.Tool
	run   runTool
	saved bool // it needs saved functions
	// attached marks a tool that needs the tools of attached servers.
	attached bool
	// decides marks a tool for callers who may approve. Other callers do not see it.
	decides bool
	session bool // it needs sessions
	pauses  bool // its execution may pause
}

// core are the members of an execution request that stand beside options.
var core = []string{"code", "input", "language", "policy", "timeout"}

// rareTexts describe members of options as far as a model needs it; the API's document describes them fully.
var rareTexts = map[string]string{
	"context": "Each entry becomes a global.", "entry": "Path of the file to run instead of code.",
	"files": "By relative path: text, or {base64}. Modules among them can be imported.",
	"hosts": "Hosts that the code needs. The deployment decides.", "secrets": "Names of secrets that the code uses.",
	"memory": `Such as "32mb".`, "seed": "Makes Math.random and the clock repeatable.", "priority": "", "engine": "",
	"limits": "Lower limits: cpuMs, ticks, outputBytes, logEntries, onLogs, apiCalls, fetchBytes, fileBytes.",
	"debug":  "Flags: stackTraces, profile, steps.",
}

// coreTexts describe the members beside options.
var coreTexts = map[string]string{
	"input": "Value of the global input: any JSON.", "policy": "Name of a policy.",
	"timeout": "In milliseconds. It only lowers the policy's.",
}

// descriptions returns the tools. sessions says whether there are sessions.
func descriptions(schemas *openapi.Document, sessions bool) ([]described, error) {
	request, err := schemas.Schema("ExecutionRequest")
	if err != nil {
		return nil, err
	}
	properties, ok := request["properties"].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("mcp: the execution request has no properties")
	}
	rare, judged := map[string]any{}, map[string]any{}
	for name, schema := range properties {
		if properties[name] = short(schema, 0); !slices.Contains(core, name) {
			rare[name] = properties[name]
		}
	}
	delete(rare, "args") // left out: a model writes these values into the code
	for name, about := range coreTexts {
		if member, ok := properties[name].(map[string]any); ok {
			member["description"] = about
		}
	}
	for name, about := range rareTexts {
		member := map[string]any{"type": "object"}
		if schema, ok := rare[name].(map[string]any); ok && schema["type"] != "object" {
			member = schema
		}
		if delete(member, "description"); about != "" {
			member["description"] = about
		}
		rare[name] = member
	}
	rare["tools"] = map[string]any{"type": "array", "items": map[string]any{"type": "object"},
		"description": "Functions at URLs that the code may call: {name, description, inputSchema, outputSchema, url}."}
	simple := map[string]any{"language": properties["language"]}
	for _, name := range []string{"code", "policy"} {
		simple[name] = map[string]any{"type": "string"}
	}
	for _, name := range []string{"files", "entry", "context", "tools", "hosts", "secrets"} {
		judged[name] = map[string]any{}
	}
	text := func(description string) map[string]any {
		return map[string]any{"type": "string", "description": description}
	}
	whole := func(least int, description string) map[string]any {
		return map[string]any{"type": "integer", "minimum": least, "description": description}
	}
	execute, about := requestSchema(properties, core, rare, "Rarely needed."), executeDescription
	if sessions {
		execute[sessionField] = text("ID of a session, whose top-level declarations persist.")
		about = sessionDescription
	}
	page := map[string]any{"cursor": text("next of the page before.")}
	reads := &sdk.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: new(false)}
	runs := &sdk.ToolAnnotations{OpenWorldHint: new(true), DestructiveHint: new(false)}
	return []described{
		{run: executeCode, pauses: true, tool: &sdk.Tool{
			Name: executeTool, Title: "Execute code", Annotations: runs, OutputSchema: outcome(),
			InputSchema: object([]any{"code"}, execute), Description: about,
		}},
		{run: analyzeCode, tool: &sdk.Tool{
			Name: "analyze_code", Title: "Analyze code", Annotations: reads,
			InputSchema: object([]any{"code"}, requestSchema(
				simple, []string{"code", "language", "policy"}, judged, "As in execute_code.",
			)),
			Description: "Scan code without running it: findings with their lines, a danger score, " +
				"syntax errors, and whether it would be allowed.",
		}},
		{run: getExecution, tool: &sdk.Tool{
			Name: "get_execution", Title: "Get an execution", Annotations: reads,
			InputSchema: object([]any{"id"}, map[string]any{
				"id":     text("Such as exec_01JD…."),
				"part":   map[string]any{"enum": []any{partResult, partOutput}, "description": "Read a piece of this alone."},
				"offset": whole(0, "Of the piece, in bytes."),
			}),
			Description: "Get an earlier execution: its result until it expires, and its audit record; or a piece of what " +
				"was truncated.",
		}},
		{run: searchTools, attached: true, tool: &sdk.Tool{
			Name: "search_tools", Title: "Search tools for code", Annotations: reads,
			InputSchema: object(nil, map[string]any{
				"query":     text("Words of names and descriptions. Default: all tools."),
				"namespace": text("Only this one."),
				"limit": map[string]any{
					"type": "integer", "minimum": 1, "maximum": maxFound, "description": fmt.Sprintf("Default %d.", defaultFound),
				},
			}),
			Description: "Find tools that code in execute_code can call, each with its TypeScript declaration: " +
				"await namespace.method(params).",
		}},
		{run: listFunctions, saved: true, tool: &sdk.Tool{
			Name: "list_functions", Title: "List saved functions", Annotations: reads,
			InputSchema: object(nil, page),
			Description: "List the saved functions that invoke_function can run.",
		}},
		{run: invokeFunction, saved: true, pauses: true, tool: &sdk.Tool{
			Name: "invoke_function", Title: "Invoke a saved function", Annotations: runs, OutputSchema: outcome(),
			InputSchema: object([]any{"name"}, map[string]any{
				"name":    map[string]any{"type": "string"},
				"version": whole(1, "Default: that of the alias latest."),
				"alias":   text("Such as live."),
				"input":   map[string]any{"description": "Any JSON value."},
				"context": rare["context"],
			}),
			Description: "Run a saved function on an input and wait for its result.",
		}},
		{run: createSession, session: true, tool: &sdk.Tool{
			Name: "create_session", Title: "Create a session", Annotations: runs,
			InputSchema: object(nil, map[string]any{
				"policy": map[string]any{"type": "string"},
				"maxAge": map[string]any{"type": "number", "description": "In ms. Default: a day."},
				"from":   text("ID of a session to copy."),
				"step":   whole(0, "Step to copy. Default: the last."),
			}),
			Description: "Create a session for execute_code.",
		}},
		{run: listSessions, session: true, tool: &sdk.Tool{
			Name: "list_sessions", Title: "List sessions", Annotations: reads,
			InputSchema: object(nil, page),
			Description: "List the caller's sessions.",
		}},
		{run: deleteSession, session: true, tool: &sdk.Tool{
			Name: "delete_session", Title: "Delete a session", Annotations: runs,
			InputSchema: object([]any{"id"}, map[string]any{"id": map[string]any{"type": "string"}}),
			Description: "Delete a session.",
		}},
		{run: listPaused, decides: true, tool: &sdk.Tool{
			Name: listPausedTool, Title: "List paused executions", Annotations: reads,
			InputSchema: object(nil, page),
			Description: "List the executions that wait, each with the operations that it waits for.",
		}},
		{run: resumeExecution, decides: true, tool: &sdk.Tool{
			Name: resumeTool, Title: "Resume an execution", Annotations: runs, OutputSchema: outcome(),
			InputSchema: object([]any{"id", "decisions"}, map[string]any{
				"id": map[string]any{"type": "string"},
				"decisions": map[string]any{"type": "array", "minItems": 1, "items": object([]any{"seq", "decision"},
					map[string]any{
						"seq": whole(1, "Of the operation."),
						"decision": map[string]any{"enum": []any{
							execution.Approve, execution.Edit, execution.Respond, execution.Reject,
						}},
						"args":   map[string]any{"type": "object", "description": "For edit."},
						"value":  map[string]any{"description": "For respond: the answer."},
						"reason": text("For the record, and for the code."),
					})},
			}),
			Description: "Decide about operations of a paused execution, and wait until it pauses again or ends.",
		}},
	}, nil
}

// requestSchema returns the members of an execution request that stand beside options and that of the others.
func requestSchema(properties map[string]any, beside []string, options map[string]any, about string) map[string]any {
	members := map[string]any{optionsField: map[string]any{
		"type": "object", "properties": options, "additionalProperties": false, "description": about,
	}}
	for _, name := range beside {
		members[name] = properties[name]
	}
	return members
}

// short returns a schema without what the gateway checks by itself: bounds, patterns, and what members may hold.
func short(schema any, depth int) any {
	object, ok := schema.(map[string]any)
	if !ok {
		return schema
	}
	out := map[string]any{}
	for name, value := range object {
		switch name {
		case "type", "enum", "required":
			out[name] = value
		case "description":
			if depth == 0 {
				out[name] = value
			}
		case "items":
			out[name] = short(value, depth+1)
		case "properties":
			members, ok := value.(map[string]any)
			if !ok {
				continue
			}
			inner := map[string]any{}
			for member, v := range members {
				inner[member] = short(v, depth+1)
			}
			out[name] = inner
		}
	}
	return out
}

// outcome returns the schema of the structured content of a run, in short: it may be a problem as well.
func outcome() map[string]any {
	return map[string]any{"type": "object", "properties": map[string]any{
		"id": map[string]any{"type": "string"}, "status": map[string]any{"type": "string"},
		"result": map[string]any{}, "output": map[string]any{"type": "string"},
		"error": map[string]any{"type": []any{"string", "null"}},
	}}
}

func object(required []any, properties map[string]any) map[string]any {
	schema := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema
}
