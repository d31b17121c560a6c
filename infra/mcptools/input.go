package mcptools

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/airlock-run/airlock/policy/toolinput"
	"github.com/airlock-run/airlock/policy/toolname"
)

// asksForInput is the first version of the protocol whose servers ask for input by the result of a call. Earlier ones
// ask while the call goes on, which an execution that pauses cannot answer.
const asksForInput = "2026-07-28"

// maxQuestion bounds what a person is shown of a server's question, in bytes.
const maxQuestion = 4 << 10

// roundState is what one round of a call tells the next.
type roundState struct {
	Key   string `json:"key"`
	State string `json:"state"`
}

// callTool calls a tool. If ctx allows it, the error may be a *toolinput.Request: the server asks a person for input.
func callTool(
	ctx context.Context, server *Server, session *sdk.ClientSession, given *sdk.CallToolParams, secret string,
) (*sdk.CallToolResult, error) {
	round, asks := toolinput.Of(ctx)
	asks = asks && session.InitializeResult().ProtocolVersion >= asksForInput
	if asks {
		given.Meta = sdk.Meta{sdk.MetaKeyClientCapabilities: &sdk.ClientCapabilities{
			Elicitation: &sdk.ElicitationCapabilities{Form: &sdk.FormElicitationCapabilities{}},
		}}
	}
	if round.Response != nil {
		var state roundState
		result := &sdk.ElicitResult{Action: round.Response.Action}
		if err := json.Unmarshal(round.State, &state); err != nil {
			return nil, fmt.Errorf("read the state of a call: %w", err)
		}
		if content := round.Response.Content; content != nil && json.Unmarshal(content, &result.Content) != nil {
			return nil, &refusedError{"the input for " + server.Namespace + " must be an object"}
		}
		given.RequestState = state.State
		given.InputResponses = sdk.InputResponseMap{state.Key: result}
	}
	result, err := session.CallTool(ctx, given)
	if err != nil || !result.NeedsInput() {
		return result, err
	}
	for key, request := range result.InputRequests {
		form, ok := request.(*sdk.ElicitParams)
		if !asks || !ok || form.URL != "" || len(result.InputRequests) > 1 {
			break
		}
		schema, err := hiddenJSON(form.RequestedSchema, secret)
		if err != nil {
			return nil, err
		}
		state, err := json.Marshal(roundState{key, result.RequestState})
		if err != nil {
			return nil, err
		}
		return nil, &toolinput.Request{
			Title:  server.Namespace + ":" + given.Name + " asks for input",
			Detail: toolname.Plain(clipTo(hide(form.Message, secret), maxQuestion)), Schema: schema, State: state,
		}
	}
	return nil, needsInput(server, result.InputRequests, secret)
}

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
