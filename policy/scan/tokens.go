package scan

import (
	"strings"

	"github.com/airlock-run/airlock/policy/threat"
)

// tokenScan scans code by its tokens.
type tokenScan struct {
	budget   *budget
	cat      *catalogue
	findings *findings
	facts    *facts
	host     *host
	loader   *loader
}

// newTokenScan returns a tokenScan that adds to what a walk that was not finished knows.
func newTokenScan(w *walker) *tokenScan {
	return &tokenScan{w.budget, w.host.cat, w.findings, w.facts, w.host, w.loader}
}

// scanTokens scans code that has no syntax tree: names that stand for powers, with the members written after them. It knows
// no scopes and follows no values.
func (ts *tokenScan) scanTokens(text string) []hit {
	ts.findings.hits, ts.findings.seen, ts.findings.count = nil, nil, nil
	ts.budget.reset(workFor(len(text)))
	l := newLexer(text)
	var before, t token
	t = l.next()
	for t.kind != tokenEnd {
		if t.kind != tokenWord {
			before, t = t, l.next()
			continue
		}
		name := l.text(t)
		if strings.IndexByte(name, '\\') >= 0 {
			name, _ = unescape(name)
		}
		member := before.kind == tokenPunct && strings.HasSuffix(text[before.start:before.end], ".")
		declared := before.kind == tokenWord && (text[before.start:before.end] == "function" || text[before.start:before.end] == "class")
		at := t.start
		before, t = t, l.next()
		switch {
		case declared:
		case name == "__proto__":
			ts.host.member(nil, name, at, true)
		case member:
			ts.tokenMethod(name, at, l.text(t))
		default:
			before, t = ts.tokenChain(l, name, at, before, t)
		}
	}
	return ts.findings.hits
}

// tokenMethod covers a member of something unknown.
func (ts *tokenScan) tokenMethod(name string, at int, next string) {
	if s := ts.cat.methods[name]; s != nil && next == "(" {
		ts.findings.found(s, at)
	}
	if name == "constructor" && next == "." {
		ts.findings.add(threat.CodeInjection, evalPower, "", at, "a constructor's members may reach Function")
	}
}

// tokenChain follows name.member.member( through the catalogue.
func (ts *tokenScan) tokenChain(l *lexer, name string, at int, before, t token) (token, token) {
	if name == "import" && l.text(t) == "(" {
		ts.facts.Flags.HasDynamicImport = true
		ts.tokenLoad(l, at, "import")
		return t, l.next()
	}
	v := ts.host.global(name, at)
	if v != nil {
		ts.facts.free[name] = struct{}{}
	}
	for v != nil && (l.text(t) == "." || l.text(t) == "?.") {
		before, t = t, l.next()
		if t.kind != tokenWord {
			return before, t
		}
		v = ts.host.member(v, l.text(t), at, true)
		before, t = t, l.next()
	}
	if v == nil || v.kind != kindSymbol || l.text(t) != "(" {
		return before, t
	}
	switch s := v.sym; {
	case s.role == roleRequire:
		ts.facts.Flags.HasRequire = true
		ts.tokenLoad(l, at, "require")
		return t, l.next()
	case s.onUse:
		ts.findings.found(s, at)
		if s.role == roleFunction {
			ts.facts.Flags.HasEval = true
		}
	}
	return before, t
}

// tokenLoad reads the argument of require or import on a copy of the lexer.
func (ts *tokenScan) tokenLoad(l *lexer, at int, how string) {
	ahead := *l // it may write behind the end of the stack that both have, which nobody reads
	arg := ahead.next()
	var name *value
	if arg.kind == tokenString && arg.end-arg.start >= 2 {
		plain, _ := unescape(ahead.src[arg.start+1 : arg.end-1])
		if ts.findings.full(threat.ModuleLoading, modulePower, strings.TrimPrefix(plain, "node:")) {
			return // what else the module means was found when it was loaded first
		}
		name = textValue(plain)
	}
	ts.loader.load(name, at, how)
}
