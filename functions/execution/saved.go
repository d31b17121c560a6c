package execution

import (
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"time"
)

// The errors of stores of functions and jobs. Nothing was changed.
var (
	ErrNotFound = errors.New("there is nothing with this name or ID")
	ErrFull     = errors.New("the store is full")
	ErrNotKept  = errors.New("this deployment does not store this")
)

// A SavedFunction is a named function with its immutable versions and the aliases that point at them.
type SavedFunction struct {
	Tenant    string    `json:"tenant"`
	Name      string    `json:"name"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
	// Versions are in ascending order, numbered from 1.
	Versions []FunctionVersion        `json:"versions"`
	Aliases  map[string]FunctionAlias `json:"aliases"`
	Hook     *FunctionHook            `json:"hook,omitempty"`
	Schedule *FunctionSchedule        `json:"schedule,omitempty"`
}

// A FunctionVersion describes one version. Its content is stored separately.
type FunctionVersion struct {
	Version int `json:"version"`
	// Digest identifies the content: the same content is the same version.
	Digest     string    `json:"digest"`
	CodeSHA256 string    `json:"codeSha256"`
	CodeBytes  int       `json:"codeBytes"`
	CreatedAt  time.Time `json:"createdAt"`
	CreatedBy  string    `json:"createdBy"`
	// Warm reports whether runs start from the warm state, and ColdReason why they cannot; nil until a run has shown
	// it.
	Warm       *bool  `json:"warm,omitempty"`
	ColdReason string `json:"coldReason,omitempty"`
}

// FunctionContent is the content of a version.
type FunctionContent struct {
	Request Request           `json:"request"`
	Env     map[string]string `json:"env,omitempty"`
	// Scopes are the restricting scopes of the caller that saved it. They apply if no caller runs the function: for a
	// webhook or a schedule.
	Scopes []string `json:"scopes,omitempty"`
	// Sum is the [Sources.Sum] of Request, or empty if it is not known.
	Sum string `json:"-"`
}

// A FunctionAlias points at a version. Previous is the version that it pointed at before; 0 if there was none.
type FunctionAlias struct {
	Version  int       `json:"version"`
	Previous int       `json:"previous,omitempty"`
	MovedAt  time.Time `json:"movedAt"`
}

// A FunctionHook configures the webhook of a function.
type FunctionHook struct {
	Scheme string `json:"scheme"`
	// Secret is never shown after it was set.
	Secret string `json:"secret,omitempty"`
	// Header is the header with the signature or the secret, for schemes that do not fix it.
	Header string `json:"header,omitempty"`
	// Headers are further request headers that the code receives. None may carry credentials.
	Headers []string `json:"headers,omitempty"`
	// ToleranceSeconds bounds the error of a timestamp; 0 means the scheme's bound.
	ToleranceSeconds int `json:"toleranceSeconds,omitempty"`
	// Async answers 202 at once and runs later.
	Async bool `json:"async,omitempty"`
	// Alias or version that runs; "" means latest.
	Alias string `json:"alias,omitempty"`
}

// LogValue keeps the secret out of logs.
func (h FunctionHook) LogValue() slog.Value { return slog.StringValue("hook " + h.Scheme) }

// String keeps the secret out of printed text.
func (h FunctionHook) String() string { return "hook " + h.Scheme }

// GoString returns String.
func (h FunctionHook) GoString() string { return h.String() }

// A FunctionSchedule runs a function at given times.
type FunctionSchedule struct {
	Cron     string `json:"cron"`
	TimeZone string `json:"timeZone"`
	// Missed is what happens to times that passed while nothing ran: skip, once or all.
	Missed string          `json:"missed"`
	Input  json.RawMessage `json:"input,omitempty"`
	// Next is the next time; zero means never.
	Next time.Time `json:"next,omitzero"`
}

// A Job is an execution that is stored and runs later.
type Job struct {
	ID      string `json:"id"`
	Tenant  string `json:"tenant"`
	Subject string `json:"subject"`
	// Kinds reports that Subject begins with its kind. Jobs of older versions lack it.
	Kinds      bool         `json:"kinds,omitempty"`
	Scopes     []string     `json:"scopes,omitempty"`
	IP         string       `json:"ip,omitempty"`
	Via        string       `json:"via"`
	Function   *FunctionRef `json:"function,omitempty"`
	Fresh      bool         `json:"fresh,omitempty"`
	ReceivedAt time.Time    `json:"receivedAt"`
	// TraceParent is the job's place in a trace, as in an Invocation.
	TraceParent string `json:"traceParent,omitempty"`
	// Status is Queued, Running, or how the job ended.
	Status Status `json:"status"`
	Times
	// Attempts counts how often no place was free.
	Attempts int `json:"attempts,omitempty"`
	Claim
	Callback *Callback `json:"callback,omitempty"`
	Waits

	// Request and Result are stored separately, and so is Waits.Snapshot.
	Request Request         `json:"-"`
	Result  json.RawMessage `json:"-"`
}

// Times holds the times of a [Job]. A zero time is not known yet, or sets no limit.
type Times struct {
	NotBefore time.Time `json:"notBefore,omitzero"`
	StartedAt time.Time `json:"startedAt,omitzero"`
	EndedAt   time.Time `json:"endedAt,omitzero"`
}

// RunID returns the ID of the record of the segment or step that runs, or ran last.
func (j Job) RunID() string {
	if j.Wait != nil && j.Wait.Session != nil && j.Wait.Session.Running != "" {
		return j.Wait.Session.Running
	}
	if j.Wait != nil && j.Wait.Run != "" {
		return j.Wait.Run
	}
	return j.ID
}

// A Claim says which process runs a job.
type Claim struct {
	// Owner is the process that runs it.
	Owner string `json:"owner,omitempty"`
	// Cancel asks the owner to stop it.
	Cancel bool `json:"cancel,omitempty"`
	// Idle is how long a process that has died has certainly begun none of its jobs, in what the store returns as an
	// orphan. It is not stored.
	Idle time.Duration `json:"-"`
}

// NeverBegan is the Idle of an orphan that was claimed and never begun.
const NeverBegan = time.Duration(math.MaxInt64)

// Ended reports whether the job has its result.
func (j Job) Ended() bool { return j.Status != Queued && j.Status != Running && j.Status != Paused }

// The states of a Callback.
const (
	CallbackWaiting   = "waiting" // for the job to end
	CallbackPending   = "pending"
	CallbackDelivered = "delivered"
	CallbackFailed    = "failed"
	CallbackDisabled  = "disabled" // the receiver answered 410
)

// A Callback is the URL that is called when a job has ended.
type Callback struct {
	URL      string    `json:"url"`
	Secret   string    `json:"secret"`
	State    string    `json:"state"`
	Attempts int       `json:"attempts,omitempty"`
	Next     time.Time `json:"next,omitzero"`
	// Problem says why the last attempt failed, for the job's owner.
	Problem string `json:"problem,omitempty"`
}

// LogValue keeps the secret out of logs.
func (c Callback) LogValue() slog.Value { return slog.StringValue("callback " + c.State) }

// String keeps the secret out of printed text.
func (c Callback) String() string { return "callback " + c.State }

// GoString returns String.
func (c Callback) GoString() string { return c.String() }
