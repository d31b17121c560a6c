package policy

import (
	"cmp"
	"time"

	"github.com/airlock-run/airlock/policy/scan"
	"github.com/airlock-run/airlock/policy/scripttext"
	"github.com/airlock-run/airlock/policy/threat"
)

// A Request asks for the permission to run some code. The zero value of every optional field means "what the tier
// says"; numbers and lists only narrow. A negative number is refused.
type Request struct {
	Code string
	// Language is "javascript" (default) or "typescript".
	Language string
	// Entry is the file name of Code if Code came from a file. Its extension overrides Language.
	Entry string
	// Files holds further sources by relative path. Those that can run (.js, .mjs, .cjs, .jsx, .ts, .mts, .cts, .tsx) are
	// scanned too.
	Files map[string]string
	// Saved marks the code of a saved function. It is scanned and bundled once and then runs again and again, so it may be
	// SavedCodeFactor times as long as other code, up to MaxCodeBytes.
	Saved bool
	// Sum identifies Code, Language, Entry and Files: two requests with the same Sum have the same of these. The scan of
	// such code is remembered. An empty Sum identifies nothing.
	Sum string
	// Scanned, which may be nil, returns a scan of the sources by another process ([scan.Hand]). Decisions ignore it; a
	// scan.Func may use it.
	Scanned func() []byte
	// Globals are the names that the host defines for this execution (context entries, tool namespaces). They shadow the
	// names that the scan would otherwise take for powers of the host.
	Globals []string

	// Engine is the engine that the code asks for; "" is QuickJS. QuickJSOnly names the fields of the request that need
	// QuickJS.
	Engine      string
	QuickJSOnly []string
	// Waits says that the execution is kept if it pauses.
	Waits bool
	// Tier defaults to DefaultTier.
	Tier string
	// Limits lower the tier's.
	Limits Limits
	// Hosts are exact names or "*.example.com", each with an optional ":port".
	Hosts   []string
	Secrets []string
	// Tools are the names of the request's tools, "namespace:method" or "namespace.method".
	Tools []string
	// Modules narrows the tier's modules.
	Modules []string

	Subject string
	Tenant  string
	// Scopes are the token's. "tier:NAME", "host:PATTERN", "secret:NAME" and "tool:PATTERN" restrict: a token that carries
	// any scope of one of these kinds can use only what its scopes of that kind name. Policy ignores all other scopes.
	Scopes []string
}

// language returns the language of the code. As in the sandbox, the name of the entry file wins over the field.
func (r *Request) language() string {
	if l := scripttext.LanguageOf(r.Entry); l != scripttext.JavaScript {
		return l
	}
	return cmp.Or(r.Language, scripttext.JavaScript)
}

// scanInput returns what the scan of a request needs under the grants that it weighs findings by. Block is the level
// from which the tier refuses code.
func (r *Request) scanInput(g *Grants, block string, patterns []Pattern, syntax bool) scan.Input {
	in := scan.Input{
		Code: r.Code, Language: r.language(), Globals: r.Globals, Syntax: syntax,
		Powers: scan.Powers{
			Eval: g.Eval, Network: g.Network == NetworkAllowlist || g.Network == NetworkPublic,
			ReadFiles: g.Files == FilesRead || g.Files == FilesWrite, WriteFiles: g.Files == FilesWrite, Modules: g.Modules,
			Packages: g.Packages, Dormant: block == threat.Critical,
		},
	}
	for name, content := range r.Files {
		if !scripttext.Runnable(name) {
			in.Names = append(in.Names, name)
			continue
		}
		if in.Files == nil {
			in.Files = make(map[string]string)
		}
		in.Files[name] = content
	}
	for _, p := range patterns {
		in.Patterns = append(in.Patterns, p.Expr.String())
	}
	return in
}

// Limits bound one execution. Zero means no limit of its own.
type Limits struct {
	Timeout     time.Duration
	CPU         time.Duration
	MemoryBytes int64
	OutputBytes int64
	LogEntries  int
	LogChars    int
	APICalls    int
	CodeBytes   int
}

// lower reduces the limits of the grants and returns the names of those that changed.
func (l Limits) lower(g *Grants) []string {
	var changed []string
	lowerTo(&g.Timeout, l.Timeout, "timeout", &changed)
	lowerTo(&g.CPU, l.CPU, "cpu", &changed)
	lowerTo(&g.MemoryBytes, l.MemoryBytes, "memory", &changed)
	lowerTo(&g.OutputBytes, l.OutputBytes, "output", &changed)
	lowerTo(&g.LogEntries, l.LogEntries, "logEntries", &changed)
	lowerTo(&g.LogChars, l.LogChars, "logChars", &changed)
	lowerTo(&g.APICalls, l.APICalls, "apiCalls", &changed)
	lowerTo(&g.CodeBytes, l.CodeBytes, "code", &changed)
	g.CPU = min(g.CPU, g.Timeout)
	return changed
}

func lowerTo[T int | int64 | time.Duration](have *T, limit T, name string, changed *[]string) {
	if limit > 0 && limit < *have {
		*have = limit
		*changed = append(*changed, name)
	}
}
