package execution

import (
	"encoding/json"
	"errors"
	"log/slog"
	"time"
)

// The answers of stores of functions and jobs. Nothing was changed.
var (
	ErrNotFound = errors.New("there is nothing with this name or id")
	ErrFull     = errors.New("there is no room for more")
	ErrNotKept  = errors.New("this deployment keeps nothing of the kind")
)

// SavedFunction is a function that was saved under a name: its versions, which never change, and what points at them.
type SavedFunction struct {
	Tenant    string    `json:"tenant"`
	Name      string    `json:"name"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
	// Versions are in ascending order; numbers count from 1.
	Versions []FunctionVersion        `json:"versions"`
	Aliases  map[string]FunctionAlias `json:"aliases"`
	Hook     *FunctionHook            `json:"hook,omitempty"`
	Schedule *FunctionSchedule        `json:"schedule,omitempty"`
}

// FunctionVersion describes one version. Its content is kept apart.
type FunctionVersion struct {
	Version int `json:"version"`
	// Digest tells contents apart: the same content is the same version.
	Digest     string    `json:"digest"`
	CodeSHA256 string    `json:"codeSha256"`
	CodeBytes  int       `json:"codeBytes"`
	CreatedAt  time.Time `json:"createdAt"`
	CreatedBy  string    `json:"createdBy"`
	// Warm says whether runs start where the top level of the code ends, and ColdReason why they cannot; nil until a run has
	// told.
	Warm       *bool  `json:"warm,omitempty"`
	ColdReason string `json:"coldReason,omitempty"`
}

// FunctionContent is what a version runs.
type FunctionContent struct {
	Request Request           `json:"request"`
	Env     map[string]string `json:"env,omitempty"`
	// Scopes are the restricting scopes of whoever saved it. They hold when the function runs on nobody's behalf: for a
	// webhook, or by the clock.
	Scopes []string `json:"scopes,omitempty"`
	// Sum is the [Sources.Sum] of Request. It is worked out when the content is read.
	Sum string `json:"-"`
}

// FunctionAlias points at a version. Previous is where it pointed before, 0 when nowhere.
type FunctionAlias struct {
	Version  int       `json:"version"`
	Previous int       `json:"previous,omitempty"`
	MovedAt  time.Time `json:"movedAt"`
}

// FunctionHook says which webhooks run a function.
type FunctionHook struct {
	Scheme string `json:"scheme"`
	// Secret is never shown again once it was set.
	Secret string `json:"secret,omitempty"`
	// Header carries the signature or the secret, for the schemes that leave it open.
	Header string `json:"header,omitempty"`
	// Headers are further request headers that the code is given. None of them may carry credentials.
	Headers []string `json:"headers,omitempty"`
	// ToleranceSeconds is how far a timestamp may be off; 0 means the scheme's own.
	ToleranceSeconds int `json:"toleranceSeconds,omitempty"`
	// Async answers 202 at once and runs later.
	Async bool `json:"async,omitempty"`
	// Alias or version that runs; "" means latest.
	Alias string `json:"alias,omitempty"`
}

// LogValue keeps the secret out of logs.
func (h FunctionHook) LogValue() slog.Value { return slog.StringValue("hook " + h.Scheme) }

// String keeps the secret out of whatever is printed.
func (h FunctionHook) String() string { return "hook " + h.Scheme }

// GoString is String.
func (h FunctionHook) GoString() string { return h.String() }

// FunctionSchedule runs a function by the clock.
type FunctionSchedule struct {
	Cron     string `json:"cron"`
	TimeZone string `json:"timeZone"`
	// Missed says what becomes of times that passed while nothing was there to run them: skip, once or all.
	Missed string          `json:"missed"`
	Input  json.RawMessage `json:"input,omitempty"`
	// Next is when it runs next; zero means never.
	Next time.Time `json:"next,omitzero"`
}

// Job is an execution that somebody asked for and does not wait for.
type Job struct {
	ID      string `json:"id"`
	Tenant  string `json:"tenant"`
	Subject string `json:"subject"`
	// Kinds says that Subject carries its kind. Jobs of older versions lack it.
	Kinds      bool         `json:"kinds,omitempty"`
	Scopes     []string     `json:"scopes,omitempty"`
	IP         string       `json:"ip,omitempty"`
	Via        string       `json:"via"`
	Function   *FunctionRef `json:"function,omitempty"`
	Fresh      bool         `json:"fresh,omitempty"`
	ReceivedAt time.Time    `json:"receivedAt"`
	// TraceParent is where it was accepted in a trace, as in an Invocation.
	TraceParent string `json:"traceParent,omitempty"`
	// Status is Queued, Running, or how it ended.
	Status    Status    `json:"status"`
	NotBefore time.Time `json:"notBefore,omitzero"`
	StartedAt time.Time `json:"startedAt,omitzero"`
	EndedAt   time.Time `json:"endedAt,omitzero"`
	// StartBefore is until when its owner may have a function begin it; zero is no bound.
	StartBefore time.Time `json:"startBefore,omitzero"`
	// Attempts counts the times a place was looked for in vain.
	Attempts int `json:"attempts,omitempty"`
	// Owner is the process that runs it.
	Owner string `json:"owner,omitempty"`
	// Cancel asks the owner to stop it.
	Cancel   bool      `json:"cancel,omitempty"`
	Callback *Callback `json:"callback,omitempty"`

	// Request and Result are kept apart from the rest.
	Request Request         `json:"-"`
	Result  json.RawMessage `json:"-"`
}

// Ended reports whether the job has its result.
func (j Job) Ended() bool { return j.Status != Queued && j.Status != Running }

// The states of a Callback.
const (
	CallbackWaiting   = "waiting" // for the job to end
	CallbackPending   = "pending"
	CallbackDelivered = "delivered"
	CallbackFailed    = "failed"
	CallbackDisabled  = "disabled" // the receiver said 410
)

// Callback is whom to tell when a job has ended.
type Callback struct {
	URL      string    `json:"url"`
	Secret   string    `json:"secret"`
	State    string    `json:"state"`
	Attempts int       `json:"attempts,omitempty"`
	Next     time.Time `json:"next,omitzero"`
	// Problem is why the last attempt failed, in words for the job's owner.
	Problem string `json:"problem,omitempty"`
}

// LogValue keeps the secret out of logs.
func (c Callback) LogValue() slog.Value { return slog.StringValue("callback " + c.State) }

// String keeps the secret out of whatever is printed.
func (c Callback) String() string { return "callback " + c.State }

// GoString is String.
func (c Callback) GoString() string { return c.String() }
