package mcptools

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/airlock-run/airlock/policy/toolinput"
	"github.com/airlock-run/airlock/policy/toolname"
)

// Servers that speak a protocol before asksForInput ask for input while a call goes on, by a request of their own
// (elicitation/create). Nobody can answer it at once, so the server gets an error. If its tool then succeeds, that is
// the result of the call. If it fails, a person is asked, and the call is made again: the same questions then have the
// answers that were given.

// maxQuestions bounds how many questions one call may ask.
const maxQuestions = 16

// questions assigns the questions of a server to the call that asks them. The protocol does not say which call that is.
type questions struct {
	mu    sync.Mutex
	open  []*inquiry    // the calls in progress
	asks  bool          // the server has asked: its calls take turns from then on
	turns chan struct{} // has a place for the call whose turn it is
}

func newQuestions() *questions { return &questions{turns: make(chan struct{}, 1)} }

// An inquiry is a call whose server may ask.
type inquiry struct {
	may      bool       // a person can be asked
	answers  []answered // of earlier rounds, in the order of the questions
	asked    int        // the answers that the server has been given in this round
	question *sdk.ElicitParams
}

// answered is an answer to a question.
type answered struct {
	Question string             `json:"question"` // its hash
	Response toolinput.Response `json:"response"`
}

// inquiryState is the state that one round of a call passes to the next.
type inquiryState struct {
	Answers  []answered `json:"answers"`
	Question string     `json:"question"` // the hash of the one that a person is asked
}

// begin adds a call, after its turn has come if the server asks. end removes it.
func (q *questions) begin(ctx context.Context, i *inquiry) (end func(), err error) {
	q.mu.Lock()
	asks := q.asks
	q.mu.Unlock()
	if asks {
		select {
		case q.turns <- struct{}{}:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.open = append(q.open, i)
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.open = slices.DeleteFunc(q.open, func(other *inquiry) bool { return other == i })
		if asks {
			<-q.turns
		}
	}, nil
}

// answer returns the answer to a question, or the error that there is none. It handles elicitation/create.
func (q *questions) answer(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.asks = true
	if len(q.open) != 1 {
		return nil, noInput("more than one call goes on, and only one may ask for input: make the call again")
	}
	i := q.open[0]
	if i.asked < len(i.answers) && i.answers[i.asked].Question == hashOf(r.Params) {
		given := i.answers[i.asked].Response
		i.asked++
		result := &sdk.ElicitResult{Action: given.Action}
		if given.Content != nil && json.Unmarshal(given.Content, &result.Content) != nil {
			return nil, noInput("the input must be an object")
		}
		return result, nil
	}
	switch {
	case !i.may:
		return nil, noInput("this execution cannot wait for input")
	case r.Params.URL != "":
		return nil, noInput("only forms can be shown")
	case i.asked >= maxQuestions:
		return nil, noInput(fmt.Sprintf("a call may ask at most %d questions", maxQuestions))
	case i.question == nil:
		i.question = r.Params
	}
	return nil, noInput("a person has to answer first")
}

func noInput(why string) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "there is no input: " + why}
}

// hashOf identifies a question.
func hashOf(q *sdk.ElicitParams) string {
	text, err := json.Marshal([]any{q.Message, q.RequestedSchema})
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// call calls a tool of a server that asks while its calls go on. See callTool.
func (q *questions) call(
	ctx context.Context, server *Server, session *sdk.ClientSession, given *sdk.CallToolParams, secret string,
) (*sdk.CallToolResult, error) {
	round, may := toolinput.Of(ctx)
	i := &inquiry{may: may}
	if round.Response != nil {
		var state inquiryState
		if err := json.Unmarshal(round.State, &state); err != nil {
			return nil, fmt.Errorf("read the state of a call: %w", err)
		}
		i.answers = append(state.Answers, answered{state.Question, *round.Response})
	}
	end, err := q.begin(ctx, i)
	if err != nil {
		return nil, err
	}
	result, err := session.CallTool(ctx, given)
	end()
	refused := (*jsonrpc.Error)(nil)
	failed := err == nil && result.IsError || errors.As(err, &refused)
	if !failed || i.question == nil || ctx.Err() != nil {
		return result, err
	}
	return nil, i.request(server, given.Name, secret)
}

// request returns the error of a call that needs input.
func (i *inquiry) request(server *Server, tool, secret string) error {
	schema, err := formSchema(i.question, secret)
	if err != nil {
		return err
	}
	state, err := json.Marshal(inquiryState{i.answers[:i.asked], hashOf(i.question)})
	if err != nil {
		return err
	}
	return &toolinput.Request{
		Title: asksTitle(server, tool), Detail: shownQuestion(i.question, secret), Schema: schema, State: state,
	}
}

func asksTitle(server *Server, tool string) string {
	return server.Namespace + ":" + tool + " asks for input"
}

// shownQuestion returns the question of a form as a person sees it.
func shownQuestion(form *sdk.ElicitParams, secret string) string {
	return toolname.Plain(clipTo(hide(form.Message, secret), maxQuestion))
}

// formSchema returns the schema of the answer to a form.
func formSchema(form *sdk.ElicitParams, secret string) (json.RawMessage, error) {
	if form.RequestedSchema == nil {
		return json.RawMessage(`{"type":"object"}`), nil
	}
	return hiddenJSON(form.RequestedSchema, secret)
}
