package execution

import (
	"bytes"
	"encoding/base64"
	stdjson "encoding/json"
	"math"
	"regexp"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The wire types distinguish an absent member from a zero one, which the contract's types need not.
type (
	wireRequest struct {
		Code     *string                   `json:"code"`
		Language *string                   `json:"language"`
		Engine   *string                   `json:"engine"`
		Policy   *string                   `json:"policy"`
		Timeout  *float64                  `json:"timeout"`
		Memory   *string                   `json:"memory"`
		Context  map[string]jsontext.Value `json:"context"`
		Input    jsontext.Value            `json:"input"`
		Args     []string                  `json:"args"`
		Tools    []wireTool                `json:"tools"`
		Limits   wireLimits                `json:"limits"`
		Seed     *int64                    `json:"seed"`
		Priority *string                   `json:"priority"`
		Debug    *wireDebug                `json:"debug"`
		Files    map[string]wireFile       `json:"files"`
		Entry    *string                   `json:"entry"`
		Hosts    []string                  `json:"hosts"`
		Secrets  []string                  `json:"secrets"`
	}
	wireTool struct {
		Name         *string        `json:"name"`
		Description  string         `json:"description"`
		InputSchema  jsontext.Value `json:"inputSchema"`
		OutputSchema jsontext.Value `json:"outputSchema"`
		URL          string         `json:"url"`
		Via          string         `json:"via"`
		Approval     string         `json:"approval"`
		Durable      bool           `json:"durable"`
	}
	wireLimits struct {
		CPUMs       *float64 `json:"cpuMs"`
		OutputBytes *int64   `json:"outputBytes"`
		LogEntries  *int     `json:"logEntries"`
		OnLogs      *string  `json:"onLogs"`
		APICalls    *int     `json:"apiCalls"`
		Ticks       *int64   `json:"ticks"`
		FetchBytes  *int64   `json:"fetchBytes"`
		FileBytes   *int64   `json:"fileBytes"`
	}
	wireDebug struct {
		StackTraces bool `json:"stackTraces"`
		Profile     bool `json:"profile"`
		Steps       bool `json:"steps"`
	}
	wireInvocation struct {
		Airlock    int            `json:"airlock"`
		ID         string         `json:"id"`
		Request    wireRequest    `json:"request"`
		Caller     wireCaller     `json:"caller"`
		Via        string         `json:"via"`
		ReceivedAt time.Time      `json:"receivedAt"`
		QueueMs    float64        `json:"queueMs"`
		Stream     bool           `json:"stream"`
		Scopes     []string       `json:"scopes"`
		Trace      string         `json:"traceParent"`
		Function   *FunctionRef   `json:"function"`
		Content    string         `json:"content"`
		Replay     jsontext.Value `json:"replay"`
		Before     time.Time      `json:"startBefore"`
		// Servers has at most one entry for each namespace of the tools.
		Servers map[string]string `json:"servers"`
		Waits   bool              `json:"waits"`
		Resume  *Resume           `json:"resume"`
		Session *SessionStep      `json:"session"`
	}
	wireCaller struct {
		Subject string `json:"subject"`
		Tenant  string `json:"tenant"`
		IP      string `json:"ip"`
	}
)

var contentSum = regexp.MustCompile(`^[0-9a-f]{64}$`)

var traceParent = regexp.MustCompile(`^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$`)

func (w *wireInvocation) invocation() (Invocation, error) {
	if w.Airlock != InvocationVersion {
		return Invocation{}, invalid("airlock", "must be %d, the version of the envelope this build understands; got %d",
			InvocationVersion, w.Airlock)
	}
	if !ValidID(w.ID) {
		return Invocation{}, invalid("id", `must be "exec_" and 10 to 64 letters or digits`)
	}
	switch w.Via {
	case ViaHTTP, ViaMCP, ViaHook, ViaLambda, ViaCLI, ViaSchedule:
	default:
		return Invocation{}, invalid("via", "must be one of http, mcp, hook, lambda, cli, schedule; got %q", clip(w.Via, 40))
	}
	for _, f := range []struct {
		field, given string
		most         int
	}{{"caller.subject", w.Caller.Subject, MaxSubjectBytes}, {"caller.tenant", w.Caller.Tenant, 256},
		{"caller.ip", w.Caller.IP, 256}} {
		if len(f.given) > f.most {
			return Invocation{}, invalid(f.field, "has %d bytes; at most %d are accepted", len(f.given), f.most)
		}
	}
	for i, scope := range w.Scopes {
		if i >= MaxScopes || scope == "" || len(scope) > 256 {
			return Invocation{}, invalid("scopes", "must be at most %d strings of 1 to 256 bytes", MaxScopes)
		}
	}
	if w.Trace != "" && !traceParent.MatchString(w.Trace) {
		return Invocation{}, invalid("traceParent", "must be a traceparent of W3C Trace Context, version 00")
	}
	if f := w.Function; f != nil && (f.Name == "" || len(f.Name) > 256 || f.Version < 1) {
		return Invocation{}, invalid("function", "must have a name of at most 256 bytes, and a version")
	}
	if len(w.Servers) > MaxTools {
		return Invocation{}, invalid("servers", "has %d members; at most %d are accepted", len(w.Servers), MaxTools)
	}
	if w.QueueMs < 0 {
		return Invocation{}, invalid("queueMs", "must not be negative")
	}
	if err := w.Resume.check(); err != nil {
		return Invocation{}, err
	}
	if err := w.Session.check(w.Resume); err != nil {
		return Invocation{}, err
	}
	r, err := w.sources()
	if err != nil {
		return Invocation{}, err
	}
	return Invocation{
		Airlock: w.Airlock, ID: w.ID, Request: r, Caller: Caller(w.Caller), Via: w.Via,
		ReceivedAt: w.ReceivedAt.UTC(), QueueMs: w.QueueMs, Stream: w.Stream, Scopes: w.Scopes,
		TraceParent: w.Trace, Function: w.Function, Content: w.Content, Replay: stdjson.RawMessage(w.Replay),
		StartBefore: w.Before.UTC(), Servers: w.Servers, Segments: Segments{w.Waits, w.Resume, w.Session},
	}, nil
}

// sources returns the request, which may omit its sources if it names them.
func (w *wireInvocation) sources() (Request, error) {
	q := &w.Request
	if w.Content == "" {
		return q.request()
	}
	if w.Function == nil || !contentSum.MatchString(w.Content) {
		return Request{}, invalid("content", "must be a SHA-256 in 64 lower-case hexadecimal digits, and comes with function")
	}
	named := (q.Code == nil || *q.Code == "") && q.Entry == nil && len(q.Files) == 0
	if named {
		stand := "0" // for a moment, in place of the code
		q.Code = &stand
	}
	r, err := q.request()
	if named {
		r.Code = ""
	}
	return r, err
}

// request checks every field and returns the contract's type.
func (w *wireRequest) request() (Request, error) {
	r := Request{Hosts: w.Hosts, Secrets: w.Secrets, Args: w.Args, Seed: w.Seed}
	r.SetInput(raw(w.Input))
	steps := []func(*Request) *Error{
		w.fillCode, w.fillChoices, w.fillBounds, w.fillContext, w.fillTools,
		func(r *Request) *Error { return checkHosts(r.Hosts) },
		func(r *Request) *Error { return checkSecrets(r.Secrets) },
		func(r *Request) *Error { return checkArgs(r.Args) },
		func(r *Request) *Error { return checkDepth(*r) },
	}
	for _, step := range steps {
		if err := step(&r); err != nil {
			return Request{}, err
		}
	}
	if w.Debug != nil {
		d := Debug(*w.Debug)
		r.Debug = &d
	}
	return r, nil
}

func (w *wireRequest) fillCode(r *Request) *Error {
	if len(w.Files) > 0 {
		r.Files = make(map[string]File, len(w.Files))
	}
	for path, content := range w.Files {
		r.Files[path] = File(content)
	}
	if err := checkFiles(r.Files); err != nil {
		return err
	}
	if w.Entry != nil && *w.Entry != "" {
		r.Entry = *w.Entry
		if _, ok := w.Files[r.Entry]; !ok {
			return invalid("entry", "names %q, which is not among files", clip(r.Entry, 80))
		}
		if w.Code != nil && *w.Code != "" {
			return invalid("code", "cannot be given together with entry; leave one of them out")
		}
		return nil
	}
	if w.Code == nil {
		return invalid("code", "is required: a non-empty string of JavaScript or TypeScript")
	}
	r.Code = *w.Code
	return checkCode(r.Code)
}

func (w *wireRequest) fillChoices(r *Request) *Error {
	var err *Error
	r.Language = choice(&err, "language", w.Language, "javascript", "typescript")
	r.Priority = choice(&err, "priority", w.Priority, "low", "normal", "high")
	if err != nil {
		return err
	}
	if w.Engine != nil {
		switch r.Engine = *w.Engine; r.Engine {
		case "quickjs", "v8", "jsc": // the policy knows which of them are turned on
		default:
			return invalid("engine", "must be quickjs, v8 or jsc; got %q", clip(r.Engine, 40))
		}
	}
	if w.Policy != nil {
		r.Policy = *w.Policy
		if !tierName(r.Policy) {
			return invalid("policy", "must be the name of a tier, such as strict, standard, extended or agent; got %q",
				clip(r.Policy, 40))
		}
	}
	return nil
}

func choice(err **Error, field string, got *string, allowed ...string) string {
	if got == nil || *err != nil {
		return ""
	}
	for _, a := range allowed {
		if *got == a {
			return a
		}
	}
	*err = invalid(field, "must be one of %s; got %q", list(allowed), clip(*got, 40))
	return ""
}

func (w *wireRequest) fillBounds(r *Request) *Error {
	if w.Timeout != nil {
		if r.Timeout = *w.Timeout; !(r.Timeout > 0) || math.IsInf(r.Timeout, 0) {
			return invalid("timeout", "must be a positive number of milliseconds")
		}
	}
	if w.Memory != nil {
		r.Memory = *w.Memory
		if _, err := ParseMemory(r.Memory); err != nil {
			return invalid("memory", "%s", err.Error())
		}
	}
	l := w.Limits
	if l.CPUMs != nil {
		if r.Limits.CPUMs = *l.CPUMs; !(r.Limits.CPUMs > 0) {
			return invalid("limits.cpuMs", "must be a positive number of milliseconds; leave it out for the tier's own")
		}
	}
	var err *Error
	r.Limits.OutputBytes = positive(&err, "limits.outputBytes", l.OutputBytes)
	r.Limits.LogEntries = positive(&err, "limits.logEntries", l.LogEntries)
	if err == nil {
		r.Limits.OnLogs = choice(&err, "limits.onLogs", l.OnLogs, OnLogsDrop, OnLogsError)
	}
	r.Limits.APICalls = positive(&err, "limits.apiCalls", l.APICalls)
	r.Limits.Ticks = positive(&err, "limits.ticks", l.Ticks)
	r.Limits.FetchBytes = positive(&err, "limits.fetchBytes", l.FetchBytes)
	r.Limits.FileBytes = positive(&err, "limits.fileBytes", l.FileBytes)
	return err
}

func positive[T int | int64](err **Error, field string, got *T) T {
	if got == nil || *err != nil {
		return 0
	}
	if *got <= 0 {
		*err = invalid(field, "must be a positive whole number; leave it out for the tier's own")
	}
	return *got
}

func (w *wireRequest) fillContext(r *Request) *Error {
	if len(w.Context) > MaxContext {
		return invalid("context", "has %d entries; at most %d are accepted", len(w.Context), MaxContext)
	}
	if len(w.Context) == 0 {
		return nil
	}
	r.Context = make(map[string]stdjson.RawMessage, len(w.Context))
	for name, v := range w.Context {
		if err := checkGlobal(name); err != nil {
			return err
		}
		r.Context[name] = stdjson.RawMessage(v)
	}
	return nil
}

func (w *wireRequest) fillTools(r *Request) *Error {
	if len(w.Tools) > MaxTools {
		return invalid("tools", "has %d entries; at most %d are accepted", len(w.Tools), MaxTools)
	}
	for i, t := range w.Tools {
		tool := Tool{Description: t.Description, InputSchema: raw(t.InputSchema), OutputSchema: raw(t.OutputSchema),
			URL: t.URL, Via: t.Via, Approval: t.Approval, Durable: t.Durable}
		if t.Name != nil {
			tool.Name = *t.Name
		}
		if err := checkTool(i, tool, r.Tools); err != nil {
			return err
		}
		r.Tools = append(r.Tools, tool)
	}
	return nil
}

// A wireFile is a File whose decoding says what is wrong with it.
type wireFile []byte

// errNoFile is the error of a value that is no file.
var errNoFile = &Error{Message: `must be a string or {"base64": "…"}`}

// unmarshal decodes a file of an abridged text.
func (f *wireFile) unmarshal(dec *jsontext.Decoder, a Abridged) error {
	v, err := dec.ReadValue()
	if err != nil {
		return err
	}
	long, ok := a.within(dec.InputOffset()-int64(len(v)), dec.InputOffset())
	switch v.Kind() {
	case '"':
		if ok {
			if *f = long.plain; long.shared && !a.owned {
				*f = bytes.Clone(long.plain)
			}
			return nil
		}
		*f, err = jsontext.AppendUnquote(make([]byte, 0, len(v)), v)
		return err
	case '{':
		var enc struct {
			Base64 *string `json:"base64"`
		}
		if json.Unmarshal(v, &enc, json.RejectUnknownMembers(true)) != nil || enc.Base64 == nil {
			break
		}
		text := []byte(*enc.Base64)
		if ok {
			text = long.plain
		}
		if *f, err = base64.StdEncoding.AppendDecode(nil, text); err != nil {
			return &Error{Message: "has base64 that does not decode"}
		}
		return nil
	}
	return errNoFile
}
