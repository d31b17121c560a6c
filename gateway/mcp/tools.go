package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	fast "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/registry"
)

// runTool carries out one tool.
type runTool func(
	ctx context.Context, s *Server, caller Caller, arguments []byte, onLog func(execution.Log),
) (answer, error)

// tool returns a handler of the SDK for a tool. If the tool may pause, the handler asks clients that let it.
func (s *Server) tool(d described, callerOf func(sdk.Request) (call, error)) sdk.ToolHandler {
	return func(ctx context.Context, request *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		c, err := callerOf(request)
		if err != nil {
			return nil, err
		}
		defer c.caller.decoded()
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(c.gone, cancel)()
		arguments := []byte(request.Params.Arguments)
		if c.caller.Arguments != nil {
			arguments = c.caller.Arguments
		}
		if len(arguments) == 0 {
			arguments = []byte("{}")
		}
		onLog, told := progress(ctx, request)
		run := d.run
		if d.pauses && request.Params.RequestState != "" && s.cfg.Approvals != nil {
			run = afterAsking(request.Params)
		}
		said, err := run(ctx, s, c.caller, arguments, onLog)
		if (err != nil || ctx.Err() != nil) && c.caller.Refused != nil {
			c.caller.Refused()
		}
		if err != nil {
			problem := s.cfg.Explain(err)
			said = answer{failed: true}
			if said.content, err = json.Marshal(problem); err != nil {
				return nil, fmt.Errorf("encode a problem: %w", err)
			}
		}
		if asked := s.ask(request, c.caller, said); d.pauses && asked != nil {
			return asked, nil
		}
		said.content = bytes.TrimSpace(said.content)
		result := &sdk.CallToolResult{
			IsError: said.failed, Content: []sdk.Content{&sdk.TextContent{Text: said.shown()}},
			StructuredContent: json.RawMessage(said.content),
		}
		if mark, ok := c.caller.long.hold(said.content); ok {
			result.StructuredContent = mark
		}
		if *told > 0 {
			result.Meta = sdk.Meta{progressMeta: *told}
		}
		return result, nil
	}
}

// progressMeta is the member of a result's _meta that says how many notifications of progress came before it. Clients
// may handle them later than the result, although they were sent first.
const progressMeta = "run.airlock/progress"

// progress returns a func that sends each log to a caller that asked for progress, and counts them. onLog is nil if
// the caller did not.
func progress(ctx context.Context, request *sdk.CallToolRequest) (onLog func(execution.Log), told *int) {
	told = new(int)
	token := request.Params.GetProgressToken()
	if token == nil {
		return nil, told
	}
	return func(l execution.Log) {
		*told++
		// If it cannot be sent, neither can the answer: the end of ctx stops the run.
		_ = request.Session.NotifyProgress(
			ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: float64(*told), Message: l.Message},
		)
	}, told
}

func executeCode(
	ctx context.Context, s *Server, caller Caller, arguments []byte, onLog func(execution.Log),
) (answer, error) {
	var others []string
	if s.cfg.Sessions != nil {
		others = []string{sessionField}
	}
	request, taken, err := requestOf(arguments, others...)
	caller.decoded()
	if err != nil {
		return answer{}, err
	}
	session, err := sessionOf(taken[sessionField])
	if err != nil {
		return answer{}, err
	}
	var result execution.Result
	if session != "" {
		result, err = s.cfg.Sessions.ExecuteIn(ctx, caller, session, request, onLog)
	} else {
		result, err = s.cfg.Executor.Execute(ctx, caller, request, onLog)
	}
	return encoded(s, result, err)
}

func analyzeCode(
	ctx context.Context, s *Server, caller Caller, arguments []byte, _ func(execution.Log),
) (answer, error) {
	request, _, err := requestOf(arguments)
	caller.decoded()
	if err != nil {
		return answer{}, err
	}
	found, err := s.cfg.Executor.Analyze(ctx, caller, request)
	return answer{content: found}, err
}

// optionsField holds the members of a request that few calls need. They may stand beside it as well.
const optionsField = "options"

// requestOf reads the arguments of execute_code: an execution request whose rare members may be in an object. others
// names arguments that are no part of the request, which it returns as they are.
func requestOf(arguments []byte, others ...string) (execution.Request, map[string]json.RawMessage, error) {
	rest, taken, err := execution.TakeMembers(arguments, append(others, optionsField)...)
	if err != nil {
		return execution.Request{}, nil, err
	}
	if options := taken[optionsField]; options != nil {
		if rest, err = withOptions(rest, options); err != nil {
			return execution.Request{}, nil, err
		}
	}
	request, err := execution.DecodeRequest(rest)
	return request, taken, err
}

// withOptions returns a request with its rare members.
func withOptions(request, options []byte) ([]byte, error) {
	rare, err := execution.Members(options)
	if err != nil {
		return nil, invalid(optionsField, "must be an object whose members each occur once")
	}
	given, err := execution.SplitMembers(request)
	if err != nil {
		return nil, err
	}
	for _, m := range given {
		if slices.ContainsFunc(rare, func(r execution.Member) bool { return r.Name == m.Name }) {
			return nil, invalid(optionsField+"."+m.Name, "is given twice: in options and beside it")
		}
	}
	return execution.JoinMembers(append(given, rare...)), nil
}

func getExecution(
	ctx context.Context, s *Server, caller Caller, arguments []byte, _ func(execution.Log),
) (answer, error) {
	var given partQuery
	if err := decode(arguments, &given, "id, part, offset"); err != nil {
		return answer{}, err
	}
	if given.ID == "" {
		return answer{}, invalid("id", "is required: the id of an execution")
	}
	found, err := s.cfg.Executor.Execution(ctx, caller, given.ID)
	if err != nil || given.Part == "" && given.Offset == 0 {
		return answer{content: found}, err
	}
	return pieceOf(found, given)
}

func searchTools(
	ctx context.Context, s *Server, caller Caller, arguments []byte, _ func(execution.Log),
) (answer, error) {
	var q ToolQuery
	if err := decode(arguments, &q, "query, namespace, limit"); err != nil {
		return answer{}, err
	}
	found, err := s.cfg.Tools.SearchTools(ctx, caller, q)
	return answer{content: found}, err
}

// pageOf answers a tool whose only argument is the cursor of a page.
func pageOf(
	ctx context.Context, caller Caller, arguments []byte,
	list func(context.Context, Caller, string) (json.RawMessage, error),
) (answer, error) {
	var given struct {
		Cursor string `json:"cursor"`
	}
	if err := decode(arguments, &given, "cursor"); err != nil {
		return answer{}, err
	}
	found, err := list(ctx, caller, given.Cursor)
	return answer{content: found}, err
}

func listFunctions(
	ctx context.Context, s *Server, caller Caller, arguments []byte, _ func(execution.Log),
) (answer, error) {
	return pageOf(ctx, caller, arguments, s.cfg.Functions.ListFunctions)
}

func invokeFunction(
	ctx context.Context, s *Server, caller Caller, arguments []byte, onLog func(execution.Log),
) (answer, error) {
	given, err := invocation(arguments)
	caller.decoded()
	if err != nil {
		return answer{}, err
	}
	result, err := s.cfg.Functions.InvokeFunction(ctx, caller, given, onLog)
	return encoded(s, result, err)
}

// The tools for callers who may approve.
const (
	listPausedTool = "list_paused"
	resumeTool     = "resume_execution"
)

func listPaused(
	ctx context.Context, s *Server, caller Caller, arguments []byte, _ func(execution.Log),
) (answer, error) {
	return pageOf(ctx, caller, arguments, s.cfg.Approvals.ListPaused)
}

func resumeExecution(
	ctx context.Context, s *Server, caller Caller, arguments []byte, _ func(execution.Log),
) (answer, error) {
	var given struct {
		ID        string          `json:"id"`
		Decisions json.RawMessage `json:"decisions"`
	}
	if err := decode(arguments, &given, "id, decisions"); err != nil {
		return answer{}, err
	}
	var decisions []api.Decision
	if len(given.Decisions) > 0 {
		var err error
		if decisions, err = api.DecodeDecisions(given.Decisions); err != nil {
			return answer{}, err
		}
	}
	caller.decoded()
	content, err := s.cfg.Approvals.ResumeExecution(ctx, caller, given.ID, decisions)
	if err != nil {
		return answer{}, err
	}
	return resumed(content)
}

// resumed returns how far an execution is that has paused, or its result.
func resumed(content []byte) (answer, error) {
	var head struct {
		Status execution.Status `json:"status"`
	}
	if err := json.Unmarshal(content, &head); err != nil {
		return answer{}, fmt.Errorf("read a resumed execution: %w", err)
	}
	if head.Status == execution.Queued || head.Status == execution.Running {
		return answer{content: content}, nil
	}
	var result execution.Result
	if err := json.Unmarshal(content, &result); err != nil {
		return answer{}, fmt.Errorf("read a resumed execution: %w", err)
	}
	if result.Status == execution.Paused {
		result.Result = nil // it holds what the execution has done so far
	}
	return answerOf(content, result), nil
}

// invocation reads the arguments of invoke_function as strictly as those of execute_code.
func invocation(arguments []byte) (registry.Call, error) {
	var given struct {
		Name    string          `json:"name"`
		Version int             `json:"version"`
		Alias   string          `json:"alias"`
		Input   json.RawMessage `json:"input"`
		Context json.RawMessage `json:"context"`
	}
	if err := decode(arguments, &given, "name, version, alias, input, context"); err != nil {
		return registry.Call{}, err
	}
	members := map[string]json.RawMessage{"code": json.RawMessage(`"0"`)} // the version has the code
	for name, v := range map[string]json.RawMessage{"input": given.Input, "context": given.Context} {
		if v != nil {
			members[name] = v
		}
	}
	whole, err := json.Marshal(members)
	if err != nil {
		return registry.Call{}, fmt.Errorf("read the arguments: %w", err)
	}
	request, err := execution.DecodeRequest(whole)
	if err != nil {
		return registry.Call{}, err
	}
	switch {
	case given.Name == "":
		err = &execution.Error{
			Code: execution.InvalidRequest, Field: "name", Message: "is required: the name of a saved function",
		}
	case given.Version < 0:
		err = &execution.Error{Code: execution.InvalidRequest, Field: "version", Message: "must be a whole number from 1"}
	}
	return registry.Call{Name: given.Name, Version: given.Version, Alias: given.Alias, Request: request}, err
}

// failed reports whether a result is a failure. One of an execution that paused is none.
func failed(result execution.Result) bool {
	return result.Status != execution.Completed && result.Status != execution.Paused
}

// encoded returns an encoded result. A result that did not complete is a failure that describes itself.
func encoded(s *Server, result execution.Result, err error) (answer, error) {
	if err != nil {
		return answer{}, err
	}
	content, err := s.cfg.Encode(result)
	return answerOf(content, result), err
}

// answerOf returns the answer for a result, encoded as content.
func answerOf(content []byte, result execution.Result) answer {
	a := answer{content: content, text: viewOf(result), failed: failed(result)}
	if result.Status == execution.Paused {
		a.paused = &result
	}
	return a
}

// decode reads the arguments of a tool that takes few. Names match exactly, no object has one twice, and null stands
// for no arguments.
func decode(arguments []byte, v any, accepted string) error {
	if string(arguments) == "null" {
		return nil
	}
	if _, err := execution.Members(arguments); err != nil {
		return err
	}
	known, once := fast.RejectUnknownMembers(true), jsontext.AllowDuplicateNames(true) // Members has refused duplicates
	if fast.Unmarshal(arguments, v, known, once) == nil {
		return nil
	}
	bad := &execution.Error{
		Code: execution.InvalidRequest, Message: "the arguments must be an object with the members: " + accepted,
	}
	var mistyped *json.UnmarshalTypeError // it names the type that was sent
	if errors.As(json.Unmarshal(arguments, v), &mistyped) && mistyped.Field != "" {
		bad.Field, bad.Message = mistyped.Field, "must not be a "+mistyped.Value
	}
	return bad
}
