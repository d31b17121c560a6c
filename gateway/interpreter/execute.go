package interpreter

import (
	"bytes"
	"cmp"
	"encoding/json"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
)

type wireExecution struct {
	Code      string          `json:"code"` // a stand-in for a long one
	ContextID string          `json:"context_id"`
	Language  string          `json:"language"`
	EnvVars   json.RawMessage `json:"env_vars"`
}

// Execute serves POST /api/e2b/execute: it runs code as the next step of a context and responds with a JSON object a
// line, as the code prints. Calls in one context take turns. The response to a request with an idempotency key, which
// may be stored, is sent when the step has ended.
func (h *Handlers) Execute(c *fiber.Ctx) error {
	received := h.Now()
	if err := api.RequireJSON(c); err != nil {
		return err
	}
	session := utils.CopyString(c.Get(SandboxID))
	request, err := api.Decode(c, h.Turns, func(body []byte) (execution.Request, error) {
		context, request, err := readExecution(body)
		session = cmp.Or(context, session)
		return request, err
	})
	if err != nil {
		return err
	}
	if !execution.ValidSessionID(session) {
		return api.NotFound("there is no context with this id; create a context, or a sandbox")
	}
	waiting, connected := api.DisconnectContext(c)
	leave := h.contexts.enter(waiting, api.CallerOf(c).Owner()+"\x00"+session)
	connected()
	if len(c.Request().Header.Peek("Idempotency-Key")) == 0 {
		return h.follow(c, session, api.NewSubmission(c, request, received), leave)
	}
	defer leave()
	result, err := h.step(c, session, request, received)
	if err != nil {
		return err
	}
	return h.respond(c, result)
}

// respond sends all lines about a result.
func (h *Handlers) respond(c *fiber.Ctx, result execution.Result) error {
	var all []output
	if result.Session != nil {
		all = append(all, numberLine(result.Session.Step))
	}
	body, err := encode(append(all, outputs(result, 0, h.Now())...))
	if err != nil {
		return err
	}
	c.Set(api.ExecutionID, result.ID)
	c.Set(fiber.HeaderContentType, contentType)
	return c.Send(body)
}

const contentType = "application/x-ndjson"

// step runs a request as the next step of a session.
func (h *Handlers) step(c *fiber.Ctx, session string, request execution.Request, received time.Time) (
	execution.Result, error) {
	s := api.NewSubmission(c, request, received)
	release, err := h.Sessions.Begin(c.UserContext(), session, &s)
	if err != nil {
		return execution.Result{}, err
	}
	defer release()
	ctx, connected := api.RunContext(c)
	defer connected()
	return h.Executor.Execute(ctx, s)
}

// readExecution returns the context that a request names, or "", and the execution request.
func readExecution(body []byte) (context string, request execution.Request, err error) {
	isCode := func(member string, depth int) bool { return member == "code" && depth == 1 }
	loose, err := execution.DecodeLoose(body, isCode)
	if err != nil {
		return "", request, err
	}
	var w wireExecution
	if err := api.DecodeLoose(loose.Short(), &w, "code, context_id and language are strings"); err != nil {
		return "", request, err
	}
	var whole struct {
		Code execution.Text `json:"code"`
	}
	if err := loose.Texts(&whole); err != nil {
		return "", request, err
	}
	request, err = w.request(whole.Code)
	return w.ContextID, request, err
}

// request returns the execution request. Its code obeys the rules of every other one.
func (w wireExecution) request(given execution.Text) (execution.Request, error) {
	if w.ContextID != "" && w.Language != "" {
		return execution.Request{}, api.Invalid("language", "cannot be given together with context_id")
	}
	if _, err := normalize(w.Language); err != nil {
		return execution.Request{}, err
	}
	variables, err := setVariables("env_vars", w.EnvVars)
	if err != nil {
		return execution.Request{}, err
	}
	r := execution.Request{Code: variables + string(given), Language: "typescript"}
	return r, execution.CheckCode(r.Code)
}

// An output is a line of a response. The type decides which members it has.
type output struct {
	Type      string          `json:"type"`
	Count     int             `json:"execution_count,omitempty"`
	Text      *string         `json:"text,omitempty"`
	Timestamp string          `json:"timestamp,omitempty"`
	Main      bool            `json:"is_main_result,omitempty"`
	JSON      json.RawMessage `json:"json,omitempty"`
	Name      string          `json:"name,omitempty"`
	Value     *string         `json:"value,omitempty"`
	Traceback *string         `json:"traceback,omitempty"`
}

// numberLine returns the line about the number of a step.
func numberLine(step int) output { return output{Type: "number_of_executions", Count: step} }

// consoleLine returns the line about a console call. The text ends with a newline.
func consoleLine(stderr bool, text string, now time.Time) output {
	stream := "stdout"
	if stderr {
		stream = "stderr"
	}
	return output{Type: stream, Text: &text, Timestamp: api.Stamp(now)}
}

// outputs returns the lines about a result, without those about its first console calls, as many as were sent.
func outputs(r execution.Result, sent int, now time.Time) (all []output) {
	texts := api.ConsoleOf(r)
	for _, text := range texts[min(sent, len(texts)):] {
		all = append(all, consoleLine(text.Error, text.Text, now))
	}
	switch {
	case r.Status != execution.Completed:
		all = append(all, failure(r))
	case len(r.Result) > 0 && !bytes.Equal(r.Result, []byte("null")):
		all = append(all, resultLine(r.Result))
	}
	return append(all, endLine)
}

var endLine = output{Type: "end_of_execution"}

// encode returns lines as a response has them.
func encode(all []output) ([]byte, error) {
	var b bytes.Buffer
	for _, line := range all {
		text, err := api.Encode(line)
		if err != nil {
			return nil, err
		}
		b.Write(text)
	}
	return b.Bytes(), nil
}

// resultLine returns the line about the value of the code. The text of a string has no quotes.
func resultLine(result json.RawMessage) output {
	text := string(result)
	switch result[0] {
	case '{', '[':
		return output{Type: "result", Main: true, Text: &text, JSON: result}
	case '"':
		var unquoted string
		if json.Unmarshal(result, &unquoted) == nil {
			text = unquoted
		}
	}
	return output{Type: "result", Main: true, Text: &text}
}

// failure returns the line about what ended the code.
func failure(r execution.Result) output {
	name, value, traceback := "ExecutionError", string(r.Status), ""
	if r.Error != nil {
		value = *r.Error
	}
	switch {
	case r.Exception != nil:
		name, value, traceback = r.Exception.Name, r.Exception.Message, r.Exception.Stack
	case r.Limit != nil:
		name = "LimitError"
	case r.Status == execution.Blocked:
		name = "PolicyError"
	}
	return output{Type: "error", Name: name, Value: &value, Traceback: &traceback}
}
