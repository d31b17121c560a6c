package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"sync/atomic"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/declarations"
	"github.com/airlock-run/airlock/gateway/semaphore"
)

// A ToolSource has the tools of the MCP servers that the deployment attaches. They are named "namespace:name" and
// have no URL. A server is a program that the gateway runs, or has a URL of its own. It is safe for concurrent use.
type ToolSource interface {
	// Tools returns the tools without waiting. They must not be changed.
	Tools() []execution.Tool
	// Call calls a tool whose Via is execution.ToolOfCaller: the gateway has the connection to its server. The text of
	// an error is for guests. carried is called with the bytes of the answer as the server wrote it, by any goroutine and
	// before the answer is decoded; its error refuses the answer.
	Call(ctx context.Context, tool string, params json.RawMessage, carried func(bytes int) error) (json.RawMessage, error)
	// Unlisted returns the servers whose tools are not known.
	Unlisted() []execution.UnlistedServer
	// Offers returns what each server with anything beside tools has, without waiting. It must not be changed.
	Offers() []execution.Offers
}

// RemoteTools offers the tools of attached MCP servers to executions. It is safe for concurrent use.
type RemoteTools struct {
	// Source may be nil: then there are no tools.
	Source ToolSource
	// Permitted returns the tools that the policy lets a caller use.
	Permitted func(ctx context.Context, tools []execution.Tool, caller authn.Identity) []execution.Tool
	// NoDiscovery says that functions cannot call the gateway while they run, so that code has no tools.search.
	NoDiscovery bool
	// MaxAnswers is how many bytes the answers to all calls that Source makes for an execution may have.
	MaxAnswers int64
	// Calls are the turns of executions at the tools that Source calls. A server that hangs holds only the turns of those
	// who call it. Required with a Source.
	Calls *semaphore.Fair

	declared declarations.Cache
	index    indexCache
}

// CallsOfOne is how many tools of servers that are commands one caller may call at once.
const CallsOfOne = 32

// all returns every tool.
func (r *RemoteTools) all() []execution.Tool {
	if r.Source == nil {
		return nil
	}
	return r.Source.Tools()
}

// AddTo adds to a submission the tools whose namespace its code names, and those by which it searches. A tool of the
// request itself, or an entry of its context, hides a namespace of the same name. If there are more tools than an
// execution may have, those whose method the code also names come first.
func (r *RemoteTools) AddTo(ctx context.Context, s api.Submission) api.Submission {
	all := slices.Clone(r.all())
	some := len(all) > 0
	if r.Source == nil {
		return s
	}
	hidden := map[string]bool{}
	for name := range s.Request.Context {
		hidden[name] = true
	}
	for _, t := range s.Request.Tools {
		namespace, _ := execution.ToolGlobal(t.Name)
		hidden[namespace] = true
	}
	namespaces, methods := newWords(), newWords()
	unlisted := r.Source.Unlisted()
	for _, t := range all {
		namespace, _ := execution.ToolGlobal(t.Name)
		namespaces.add(namespace)
	}
	for _, u := range unlisted {
		namespaces.add(u.Namespace)
	}
	namespaces.add(discovery)
	called := map[string]bool{discovery: true}
	for _, u := range unlisted {
		called[u.Namespace] = true
	}
	calls := namespaces.findIn(s.Request, called, func(name, method string) bool {
		return name != discovery || method == "search" || method == "describe"
	})
	named := slices.DeleteFunc(all, func(t execution.Tool) bool {
		namespace, method := execution.ToolGlobal(t.Name)
		if hidden[namespace] || !namespaces.found[namespace] {
			return true
		}
		methods.add(method)
		return false
	})
	room := max(execution.MaxTools-len(s.Request.Tools), 0)
	if len(named) > room {
		methods.findIn(s.Request, nil, nil)
	}
	var likely, others []execution.Tool
	for _, t := range named {
		if _, method := execution.ToolGlobal(t.Name); methods.found[method] {
			likely = append(likely, t)
		} else {
			others = append(others, t)
		}
	}
	for _, u := range unlisted {
		if !hidden[u.Namespace] && namespaces.found[u.Namespace] {
			likely = append(likely, calledOf(u, calls[u.Namespace])...)
		}
	}
	if some && !hidden[discovery] && len(calls[discovery]) > 0 {
		var tools []execution.Tool
		s, tools = r.discoverable(s)
		likely = slices.Concat(tools, likely)
	}
	permitted := r.Permitted(ctx, append(likely, others...), s.Caller)
	return r.withCalls(s, permitted[:min(len(permitted), room)])
}

// withCalls adds tools to a submission, and the way to those that the gateway calls, unless they cannot be called.
// Their servers check their input themselves.
func (r *RemoteTools) withCalls(s api.Submission, tools []execution.Tool) api.Submission {
	ours := map[string]bool{}
	tools = slices.Clone(tools)
	for i, t := range tools {
		if t.Via == execution.ToolOfCaller && t.Server != ofGateway {
			ours[t.Name], tools[i].InputSchema, tools[i].OutputSchema = true, nil, nil
		}
	}
	if len(ours) > 0 && !r.callable(s) {
		tools = slices.DeleteFunc(tools, func(t execution.Tool) bool { return ours[t.Name] })
		ours = nil
	}
	s.Request.Tools = slices.Concat(s.Request.Tools, tools)
	var answered atomic.Int64
	if next := s.CallTool; len(ours) > 0 {
		s.CallTool = func(ctx context.Context, tool string, params json.RawMessage) (json.RawMessage, error) {
			if ours[tool] {
				release, err := r.Calls.Acquire(ctx, s.Caller.Tenant, s.Caller.Subject)
				if err != nil {
					return nil, errors.New("the execution ended before its turn to call " + tool)
				}
				defer release()
				carried := func(bytes int) error {
					if answered.Add(int64(bytes)) > r.MaxAnswers {
						return fmt.Errorf("the answer of %s is too much: those of all calls of tools of servers that are commands may "+
							"have %d bytes together in an execution, unless MCP_ANSWER_BYTES allows more; ask for less with each call",
							tool, r.MaxAnswers)
					}
					return nil
				}
				if err := carried(0); err != nil {
					return nil, err
				}
				return r.Source.Call(ctx, tool, params, carried)
			}
			if next == nil {
				return nil, errors.New("there is no caller")
			}
			return next(ctx, tool, params)
		}
	}
	return s
}

// callable reports whether code can call tools of the gateway. It must not look as if there were a way to the caller.
func (r *RemoteTools) callable(s api.Submission) bool {
	return !r.NoDiscovery && (s.CallTool != nil ||
		!slices.ContainsFunc(s.Request.Tools, func(t execution.Tool) bool { return t.Via == execution.ToolOfCaller }))
}

// Callers choose sources, up to 16 MiB, and servers choose the names of tools, up to thousands. So the sources are
// searched for all of them in a single pass.

// sourcesOf yields the code and the files of a request.
func sourcesOf(request execution.Request) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if !yield([]byte(request.Code)) {
			return
		}
		for _, name := range slices.Sorted(maps.Keys(request.Files)) {
			if !yield(request.Files[name]) {
				return
			}
		}
	}
}

// ofName are the bytes of names in code: those of ASCII, and all of other characters.
var ofName = func() (is [256]bool) {
	for b := range is {
		is[b] = 'a' <= b|0x20 && b|0x20 <= 'z' || '0' <= b && b <= '9' || b == '_' || b == '$' || b >= 0x80
	}
	return is
}()

// words are names of which some are found in sources.
type words struct {
	found map[string]bool // by every name
	least int             // the length of the shortest
	most  int             // the length of the longest
	// counts has the number of names that are looked for, by their hash: few other names are looked up.
	counts []uint8
}

func newWords() *words { return &words{found: map[string]bool{}, least: math.MaxInt} }

// add adds a name.
func (w *words) add(name string) {
	w.found[name] = false
	w.least, w.most = min(w.least, len(name)), max(w.most, len(name))
}

// hashStart and hashFactor are those of FNV-1a.
const (
	hashStart  = 2166136261
	hashFactor = 16777619
)

// each calls fn with each name of a source that is added, with the place behind it, and with what counts has for it,
// which fn may reduce, until fn returns false.
func (w *words) each(source []byte, fn func(name []byte, end int, count *uint8) bool) {
	if w.counts == nil {
		size := 256
		for size < 16*len(w.found) {
			size *= 2
		}
		w.counts = make([]uint8, size)
		for name := range w.found {
			h := uint32(hashStart)
			for i := range len(name) {
				h = (h ^ uint32(name[i])) * hashFactor
			}
			if count := &w.counts[(h^h>>16)&uint32(size-1)]; *count < math.MaxUint8 {
				*count++
			}
		}
	}
	counts, mask := w.counts, uint32(len(w.counts)-1)
	for i := 0; i < len(source); {
		if !ofName[source[i]] {
			i++
			continue
		}
		start, h := i, uint32(hashStart)
		for end := min(i+w.most, len(source)); i < end && ofName[source[i]]; i++ {
			h = (h ^ uint32(source[i])) * hashFactor
		}
		hashed := i
		for i < len(source) && ofName[source[i]] {
			i++
		}
		if i-start < w.least || i > hashed {
			continue
		}
		if count := &counts[(h^h>>16)&mask]; *count > 0 && !fn(source[start:i], i, count) {
			return
		}
	}
}

// The most calls of a namespace whose methods are looked at, and the most methods that they find.
const (
	maxCalls  = 100_000
	maxCalled = 20
)

// findIn finds the names that the sources of a request have as names. It returns the methods that they name of the
// names that called has: name.method, with or without spaces and ?. wanted reports whether a method is of interest.
func (w *words) findIn(
	request execution.Request, called map[string]bool, wanted func(name, method string) bool,
) map[string][]string {
	missing, calls, methods := len(w.found), 0, map[string][]string{}
	for source := range sourcesOf(request) {
		if missing == 0 && (len(called) == 0 || calls >= maxCalls) {
			return methods
		}
		w.each(source, func(name []byte, end int, count *uint8) bool {
			found, ok := w.found[string(name)]
			if !ok {
				return true
			}
			if !found {
				w.found[string(name)] = true
				missing--
			}
			follow := called[string(name)] && calls < maxCalls
			if !follow {
				if !found && *count < math.MaxUint8 {
					*count-- // it is not looked up again
				}
				return missing > 0 || len(called) > 0 && calls < maxCalls
			}
			calls++
			if at := end - len(name); at > 0 && source[at-1] == '.' {
				return true
			}
			method := methodAt(source, end)
			if known := methods[string(name)]; len(method) > 0 && len(known) < maxCalled &&
				!slices.Contains(known, string(method)) && wanted(string(name), string(method)) {
				methods[string(name)] = append(known, string(method))
			}
			return true
		})
	}
	return methods
}

// methodAt returns the name behind a point and spaces; empty if there is none.
func methodAt(source []byte, at int) []byte {
	at = skipSpace(source, at)
	if at < len(source) && source[at] == '?' {
		at++
	}
	if at == len(source) || source[at] != '.' {
		return nil
	}
	start := skipSpace(source, at+1)
	end := start
	for end < len(source) && ofName[source[end]] && source[end] < 0x80 {
		end++
	}
	if end > start && '0' <= source[start] && source[start] <= '9' {
		return nil
	}
	return source[start:end]
}

// maxSpace bounds the spaces in a call.
const maxSpace = 1000

func skipSpace(source []byte, at int) int {
	for end := min(at+maxSpace, len(source)); at < end; at++ {
		if b := source[at]; b != ' ' && (b < '\t' || b > '\r') {
			break
		}
	}
	return at
}
