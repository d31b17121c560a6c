package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
)

// From 2026-07-28 on, a tool may answer that it needs input. The client asks its user, and repeats the call with what
// the user said and with the state of the call, which here is the ID of the paused execution.

// ask returns the questions to the user of a client about an execution that has paused. It returns nil if the client
// cannot ask, if the caller may not decide, or if the execution waits for something else than approvals.
func (s *Server) ask(request *sdk.CallToolRequest, caller Caller, said answer) *sdk.CallToolResult {
	r := said.paused
	if r == nil || said.asked || s.cfg.Approvals == nil || !asks(request) || !s.cfg.Approvals.Asks(caller, r.Policy) {
		return nil
	}
	questions := sdk.InputRequestMap{}
	for _, w := range r.Waiting {
		if w.Kind == execution.WaitApproval && len(questions) < maxViolations {
			questions[strconv.Itoa(w.Seq)] = question(w)
		}
	}
	if len(questions) == 0 {
		return nil
	}
	return &sdk.CallToolResult{InputRequests: questions, RequestState: r.ID}
}

// asks reports whether the client of a request shows forms to its user and repeats the call with the answers.
func asks(request *sdk.CallToolRequest) bool {
	can := request.ClientCapabilities()
	if !sessionless(request.ProtocolVersion()) || can == nil || can.Elicitation == nil {
		return false
	}
	return can.Elicitation.Form != nil || can.Elicitation.URL == nil
}

// The fields of a form.
const (
	decisionField = "decision"
	reasonField   = "reason"
	valueField    = "value"
)

// maxAsked bounds what a form shows of each thing that the code said, in bytes.
const maxAsked = 2 << 10

// question returns the form about an operation.
func question(w execution.Waiting) *sdk.ElicitParams {
	shown := func(text string) string { return clipTo([]byte(text), maxAsked) }
	message := "Code in the sandbox asks for approval"
	switch {
	case w.Tool != "":
		message += fmt.Sprintf(" to call %s with %s", w.Tool, shown(string(w.Args)))
	case w.Title != "":
		message += ": " + shown(w.Title)
	}
	if w.Detail != "" {
		message += "\n" + shown(w.Detail)
	}
	decisions, required := []any{execution.Approve, execution.Reject}, []any{decisionField}
	properties := map[string]any{reasonField: map[string]any{"type": "string", "description": "Why, for the record."}}
	if asksValue(w) {
		decisions[0] = execution.Respond
		properties[valueField] = valueForm(w.Schema)
	}
	properties[decisionField] = map[string]any{"type": "string", "enum": decisions}
	return &sdk.ElicitParams{Mode: "form", Message: message, RequestedSchema: map[string]any{
		"type": "object", "properties": properties, "required": required,
	}}
}

// asksValue reports whether an approval asks for a value.
func asksValue(w execution.Waiting) bool { return w.Tool == "" && w.Schema != nil }

// simple returns the type of a value that a form has a field for; "" for any other.
func simple(schema json.RawMessage) string {
	var given struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(schema, &given) == nil &&
		slices.Contains([]string{"string", "number", "integer", "boolean"}, given.Type) {
		return given.Type
	}
	return ""
}

// valueForm returns the field of a form for a value that fits a schema.
func valueForm(schema json.RawMessage) map[string]any {
	about := "Fits the schema " + clipTo(schema, maxAsked)
	if kind := simple(schema); kind != "" {
		return map[string]any{"type": kind, "description": about}
	}
	return map[string]any{"type": "string", "description": "JSON. " + about}
}

// afterAsking carries out a call that is repeated with what a user said. It does not run anything again: the execution
// that has paused continues.
func afterAsking(params *sdk.CallToolParamsRaw) runTool {
	return func(
		ctx context.Context, s *Server, caller Caller, _ []byte, _ func(execution.Log),
	) (answer, error) {
		caller.decoded()
		id := params.RequestState
		decisions, err := s.said(ctx, caller, id, params.InputResponses)
		if err != nil {
			return answer{}, err
		}
		var content json.RawMessage
		if len(decisions) > 0 {
			content, err = s.cfg.Approvals.ResumeExecution(ctx, caller, id, decisions)
			if err != nil && s.cfg.Explain(err).Code != notWaiting {
				return answer{}, err
			}
		}
		if content == nil { // the user wants to decide later, or somebody else has decided
			if content, err = s.cfg.Executor.Execution(ctx, caller, id); err != nil {
				return answer{}, err
			}
		}
		said, err := resumed(content)
		said.asked = len(decisions) == 0
		return said, err
	}
}

// notWaiting is the code of the problem that an operation has been decided.
const notWaiting = "not_waiting"

// said returns the decisions of a user about an execution. A form that the user closed contributes none.
func (s *Server) said(
	ctx context.Context, caller Caller, id string, responses sdk.InputResponseMap,
) ([]api.Decision, error) {
	found, err := s.cfg.Executor.Execution(ctx, caller, id)
	if err != nil {
		return nil, err
	}
	var paused struct {
		Waiting []execution.Waiting `json:"waiting"`
	}
	if err := json.Unmarshal(found, &paused); err != nil {
		return nil, fmt.Errorf("read a paused execution: %w", err)
	}
	var decisions []api.Decision
	for _, w := range paused.Waiting {
		response, ok := responses[strconv.Itoa(w.Seq)].(*sdk.ElicitResult)
		if !ok || response == nil || w.Kind != execution.WaitApproval {
			continue
		}
		d, ok, err := decisionOf(w, response)
		if err != nil {
			return nil, err
		}
		if ok {
			decisions = append(decisions, d)
		}
	}
	return decisions, nil
}

// decisionOf returns what a user decided about an operation; ok is false if the user has not decided.
func decisionOf(w execution.Waiting, form *sdk.ElicitResult) (d api.Decision, ok bool, err error) {
	d.Seq = w.Seq
	switch form.Action {
	case "accept":
	case "decline":
		d.Decision = execution.Reject
		return d, true, nil
	default:
		return d, false, nil
	}
	d.Decision, _ = form.Content[decisionField].(string)
	d.Reason, _ = form.Content[reasonField].(string)
	if d.Decision != execution.Respond {
		return d, true, nil
	}
	value := form.Content[valueField]
	if text, is := value.(string); is && simple(w.Schema) == "" {
		if !json.Valid([]byte(text)) {
			return d, false, invalid(valueField, "must be JSON")
		}
		d.Value = json.RawMessage(text)
		return d, true, nil
	}
	d.Value, err = json.Marshal(value)
	return d, true, err
}
