package mcp

import (
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/airlock-run/airlock/gateway/declarations"
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
}

func descriptions(schemas *openapi.Document) ([]described, error) {
	request, err := schemas.Schema("ExecutionRequest")
	if err != nil {
		return nil, err
	}
	result, err := schemas.Schema("ExecutionResult")
	if err != nil {
		return nil, err
	}
	analysis, err := schemas.Schema("Analysis")
	if err != nil {
		return nil, err
	}
	// Providers of models accept no alternatives at the top of a tool's schema. code may be "" if entry is given.
	delete(request, "anyOf")
	request["required"] = []any{"code"}
	properties, ok := request["properties"].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("mcp: the execution request has no properties")
	}
	judged := map[string]any{}
	for _, name := range []string{"code", "language", "policy", "files", "entry", "context", "tools", "hosts", "secrets"} {
		judged[name] = properties[name]
	}
	text := func(description string) map[string]any {
		return map[string]any{"type": "string", "description": description}
	}
	reads := &sdk.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: new(false)}
	runs := &sdk.ToolAnnotations{OpenWorldHint: new(true), DestructiveHint: new(false)}
	return []described{
		{run: executeCode, tool: &sdk.Tool{
			Name: "execute_code", Title: "Execute code", Annotations: runs, InputSchema: request,
			OutputSchema: anyResult(result),
			Description: "Run JavaScript or TypeScript in a fresh sandbox and wait for its result. The sandbox has no state " +
				"from earlier calls, and no network or files beyond the policy.\n\n" +
				"What the code can call:\n\n```ts\n" + declarations.Globals() + "```",
		}},
		{run: analyzeCode, tool: &sdk.Tool{
			Name: "analyze_code", Title: "Analyze code", Annotations: reads, InputSchema: object([]any{"code"}, judged),
			OutputSchema: anyResult(analysis),
			Description: "Scan code without running it: findings with their lines, a danger score, " +
				"syntax errors, and whether it would be allowed.",
		}},
		{run: getExecution, tool: &sdk.Tool{
			Name: "get_execution", Title: "Get an execution", Annotations: reads,
			InputSchema: object([]any{"id"}, map[string]any{"id": text("ID of the execution, such as exec_01JD….")}),
			Description: "Get an earlier execution: its result until it expires, and its audit record if the " +
				"caller may read it.",
		}},
		{run: searchTools, attached: true, tool: &sdk.Tool{
			Name: "search_tools", Title: "Search tools for code", Annotations: reads,
			InputSchema: object(nil, map[string]any{
				"query":     text("Words to find in names and descriptions of tools. Default: all tools."),
				"namespace": text("Return only tools of this namespace."),
				"limit": map[string]any{
					"type": "integer", "minimum": 1, "maximum": 100, "description": "Maximum number of tools. Default 20.",
				},
			}),
			Description: "Find tools that code in execute_code can call, each with its TypeScript declaration: " +
				"await namespace.method(params). " +
				"One script can call several tools and pass the value of one to the next.",
		}},
		{run: listFunctions, saved: true, tool: &sdk.Tool{
			Name: "list_functions", Title: "List saved functions", Annotations: reads,
			InputSchema: object(
				nil, map[string]any{"cursor": text("Page cursor: next of the previous page. Omit it for the first page.")},
			),
			Description: "List the saved functions that invoke_function can run.",
		}},
		{run: invokeFunction, saved: true, tool: &sdk.Tool{
			Name: "invoke_function", Title: "Invoke a saved function", Annotations: runs, OutputSchema: anyResult(result),
			InputSchema: object([]any{"name"}, map[string]any{
				"name": text("Name of the function."),
				"version": map[string]any{
					"type": "integer", "minimum": 1, "description": "Version number. Default: the version of the alias latest.",
				},
				"alias":   text("Name of an alias, such as live."),
				"input":   map[string]any{"description": "Input of the function: any JSON value."},
				"context": properties["context"],
			}),
			Description: "Run a saved function on an input and wait for its result.",
		}},
	}, nil
}

func object(required []any, properties map[string]any) map[string]any {
	schema := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema
}

// anyResult returns a schema of the structured content of a tool that also allows a problem, which has the same
// place.
func anyResult(schema map[string]any) map[string]any {
	return map[string]any{"type": "object", "properties": schema["properties"]}
}
