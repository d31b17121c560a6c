package mcptools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/airlock-run/airlock/policy/toolinput"
	"github.com/airlock-run/airlock/policy/toolname"
)

// asksForInput is the first version of the protocol whose servers ask for input by the result of a call.
const asksForInput = "2026-07-28"

// maxQuestion bounds what a person is shown of a server's question, in bytes.
const maxQuestion = 4 << 10

// roundState is the state that one round of a call passes to the next.
type roundState struct {
	Key   string   `json:"key,omitempty"`  // of the only form
	Keys  []string `json:"keys,omitempty"` // of several forms
	State string   `json:"state"`
}

// capabilities returns the metadata of a request that says whether its server may ask for input.
func capabilities(session *sdk.ClientSession, asks bool) sdk.Meta {
	if session.InitializeResult().ProtocolVersion < asksForInput {
		return nil
	}
	can := &sdk.ClientCapabilities{}
	if asks {
		can.Elicitation = &sdk.ElicitationCapabilities{Form: &sdk.FormElicitationCapabilities{}}
	}
	return sdk.Meta{sdk.MetaKeyClientCapabilities: can}
}

// callTool calls a tool. If ctx allows it, the error may be a *toolinput.Request: the server asks a person for input. q
// may be nil: then the server was told that it cannot ask during a call.
func callTool(
	ctx context.Context, server *Server, session *sdk.ClientSession, q *questions, given *sdk.CallToolParams,
	secret string,
) (*sdk.CallToolResult, error) {
	round, asks := toolinput.Of(ctx)
	if session.InitializeResult().ProtocolVersion < asksForInput {
		if q == nil {
			return session.CallTool(ctx, given)
		}
		return q.call(ctx, server, session, given, secret)
	}
	given.Meta = capabilities(session, asks)
	if round.Response != nil {
		var state roundState
		if err := json.Unmarshal(round.State, &state); err != nil {
			return nil, fmt.Errorf("read the state of a call: %w", err)
		}
		var err error
		if given.InputResponses, err = state.responses(*round.Response); err != nil {
			return nil, &refusedError{"the input for " + server.Namespace + " " + err.Error()}
		}
		given.RequestState = state.State
	}
	result, err := session.CallTool(ctx, given)
	if err != nil || !result.NeedsInput() {
		return result, err
	}
	switch request, err := requestOf(server, given.Name, result, secret); {
	case err != nil:
		return nil, err
	case request != nil && asks:
		return nil, request
	}
	return nil, needsInput(server, result.InputRequests, secret)
}

// responses returns what a person answered, for each form that the server asked with.
func (s roundState) responses(given toolinput.Response) (sdk.InputResponseMap, error) {
	out, contents := sdk.InputResponseMap{}, map[string]json.RawMessage{s.Key: given.Content}
	keys := s.Keys
	if len(keys) == 0 {
		keys = []string{s.Key}
	} else if given.Content != nil && json.Unmarshal(given.Content, &contents) != nil {
		return nil, errors.New("must be an object")
	}
	for _, key := range keys {
		result := &sdk.ElicitResult{Action: given.Action}
		if content := contents[key]; given.Content != nil && json.Unmarshal(content, &result.Content) != nil {
			return nil, errors.New("must be an object")
		}
		out[key] = result
	}
	return out, nil
}

// requestOf returns the request for input of a result, or nil if it is not made of forms. The answer to several forms
// is an object that has the answer to each form under its key.
func requestOf(server *Server, tool string, result *sdk.CallToolResult, secret string) (*toolinput.Request, error) {
	keys := slices.Sorted(maps.Keys(result.InputRequests))
	if len(keys) == 0 || len(keys) > maxForms {
		return nil, nil
	}
	// The record of the execution has the keys and the state.
	for _, text := range append(keys, result.RequestState) {
		if hide(text, secret) != text {
			return nil, &refusedError{server.Namespace + " asked for input, with its secret in the state or in a key"}
		}
	}
	var texts []string
	properties := map[string]json.RawMessage{}
	for _, key := range keys {
		form, ok := result.InputRequests[key].(*sdk.ElicitParams)
		if !ok || form.URL != "" {
			return nil, nil
		}
		schema, err := formSchema(form, secret)
		if err != nil {
			return nil, err
		}
		properties[key], texts = schema, append(texts, shownQuestion(form, secret))
	}
	state, schema := roundState{Key: keys[0], State: result.RequestState}, properties[keys[0]]
	var err error
	if len(keys) > 1 {
		state.Key, state.Keys = "", keys
		if schema, err = json.Marshal(map[string]any{
			"type": "object", "properties": properties, "required": keys, "additionalProperties": false,
		}); err != nil {
			return nil, err
		}
		for i, key := range keys {
			texts[i] = toolname.Plain(clipTo(key, maxLabel)) + ": " + texts[i]
		}
	}
	text, err := json.Marshal(state)
	if err != nil {
		return nil, err
	}
	return &toolinput.Request{
		Title: asksTitle(server, tool), Detail: strings.Join(texts, "\n"), Schema: schema, State: text,
	}, nil
}

// maxForms bounds the forms of one request for input.
const maxForms = 8

// maxAsks bounds how many of a server's requests for input an error quotes.
const maxAsks = 3

// needsInput returns the error of a call whose server asks for input before it answers. It quotes what the server asks
// for, without the secret and with invisible characters escaped.
func needsInput(server *Server, asked sdk.InputRequestMap, secret string) error {
	if len(asked) == 0 {
		return &refusedError{server.Namespace + " is busy: call it again later"}
	}
	var texts []string
	for _, request := range asked {
		text := "it wants more than a form can ask for"
		if form, ok := request.(*sdk.ElicitParams); ok {
			text = form.Message
		}
		texts = append(texts, text)
	}
	slices.Sort(texts)
	said := strings.Join(texts[:min(len(texts), maxAsks)], "; ")
	return &refusedError{
		server.Namespace + " asked for input, which this execution cannot wait for: " +
			clip(toolname.Plain(clip(hide(said, secret)))),
	}
}
