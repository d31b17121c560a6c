package flow

import (
	"strings"

	"github.com/airlock-run/airlock/policy/scan/internal/catalogue"
	"github.com/airlock-run/airlock/policy/scan/internal/cost"
	"github.com/airlock-run/airlock/policy/scan/internal/lexer"
	"github.com/airlock-run/airlock/policy/threat"
)

// tokenScan scans code by its tokens.
type tokenScan struct {
	budget   *cost.Budget
	cat      *catalogue.Catalogue
	findings *findings
	facts    *facts
	host     *host
	loader   *loader
	// called is the end of the last call that definesMethod read, so that it reads no token twice.
	called int
}

// newTokenScan returns a tokenScan that shares what an unfinished walk knows.
func newTokenScan(w *walker) *tokenScan {
	return &tokenScan{w.budget, w.host.cat, w.findings, w.facts, w.host, w.loader, 0}
}

// scanTokens scans code that has no syntax tree for names that are powers, with the members behind them. It knows no
// scopes and follows no values.
func (ts *tokenScan) scanTokens(text string) []Hit {
	ts.findings.hits, ts.findings.seen, ts.findings.count = nil, nil, nil
	ts.budget.Reset(cost.WorkFor(len(text)))
	l := lexer.New(text)
	var before, t lexer.Token
	t = l.Next()
	for t.Kind != lexer.End {
		if t.Kind != lexer.Word {
			before, t = t, l.Next()
			continue
		}
		name := l.Text(t)
		if strings.IndexByte(name, '\\') >= 0 {
			name, _ = lexer.Unescape(name)
		}
		member := before.Kind == lexer.Punct && strings.HasSuffix(text[before.Start:before.End], ".")
		key := before.Kind == lexer.Punct && (text[before.Start:before.End] == "{" || text[before.Start:before.End] == ",")
		declared := before.Kind == lexer.Word && (text[before.Start:before.End] == "function" ||
			text[before.Start:before.End] == "class")
		at := t.Start
		before, t = t, l.Next()
		switch {
		case declared, !member && ts.cat.Globals[name] != nil && l.Text(t) == "(" && ts.definesMethod(l, at):
		case name == "__proto__" && l.Text(t) == ":" && key: // it names the prototype of a new object
		case name == "__proto__":
			ts.host.reaches(at)
		case member:
			ts.tokenMethod(l, name, at, l.Text(t))
		default:
			before, t = ts.tokenChain(l, name, at, before, t)
		}
	}
	return ts.findings.hits
}

// maxParameters is how many tokens of parameters definesMethod reads.
const maxParameters = 64

// definesMethod reports whether the parenthesis before the lexer opens the parameters of a method, name(a, b) {. A
// block after a call would be on another line.
func (ts *tokenScan) definesMethod(l *lexer.Lexer, at int) bool {
	if at < ts.called {
		return false
	}
	ahead := *l // it may write behind the end of the stack that both have, which nobody reads
	depth := 1
	for range maxParameters {
		t := ahead.Next()
		ts.called = t.End
		if t.Kind == lexer.End {
			return false
		}
		switch ahead.Text(t) {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			depth--
		}
		if depth == 0 {
			body := ahead.Next()
			return ahead.Text(body) == "{" && !strings.ContainsAny(ahead.Src[t.End:body.Start], "\r\n\u2028\u2029")
		}
	}
	return false
}

// tokenMethod handles a member of an unknown object.
func (ts *tokenScan) tokenMethod(l *lexer.Lexer, name string, at int, next string) {
	if s := ts.cat.Methods[name]; s != nil && next == "(" {
		ts.findings.found(s, at)
	}
	if name == "constructor" && next == "." {
		ahead := *l
		if member := ahead.Next(); ahead.Text(member) == "name" {
			return
		}
		ts.findings.add(threat.CodeInjection, catalogue.EvalPower, "", at, "a constructor's members may reach Function")
	}
}

// tokenChain follows name.member.member( through the catalogue.
func (ts *tokenScan) tokenChain(l *lexer.Lexer, name string, at int, before, t lexer.Token) (lexer.Token, lexer.Token) {
	if name == "import" && l.Text(t) == "(" {
		ts.facts.Flags.HasDynamicImport = true
		ts.tokenLoad(l, at, "import")
		return t, l.Next()
	}
	v := ts.host.global(name, at)
	if v != nil {
		ts.facts.free[name] = struct{}{}
	}
	for v != nil && (l.Text(t) == "." || l.Text(t) == "?.") {
		before, t = t, l.Next()
		if t.Kind != lexer.Word {
			return before, t
		}
		if v.kind == kindSymbol && v.sym.Name == "vm" && v.sym.Members[l.Text(t)] == nil {
			return before, t // a minifier's name, more likely than a member that the module does not have
		}
		v = ts.host.member(v, l.Text(t), at, true)
		before, t = t, l.Next()
	}
	if v == nil || v.kind != kindSymbol || l.Text(t) != "(" {
		return before, t
	}
	switch s := v.sym; {
	case s.Role == catalogue.RoleRequire:
		ts.facts.Flags.HasRequire = true
		ts.tokenLoad(l, at, "require")
		return t, l.Next()
	case s.OnUse:
		ts.findings.found(s, at)
		if s.Role == catalogue.RoleFunction {
			ts.facts.Flags.HasEval = true
		}
	}
	return before, t
}

// tokenLoad reads the argument of require or import on a copy of the lexer.
func (ts *tokenScan) tokenLoad(l *lexer.Lexer, at int, how string) {
	ahead := *l // it may write behind the end of the stack that both have, which nobody reads
	arg := ahead.Next()
	var name *value
	if arg.Kind == lexer.String && arg.End-arg.Start >= 2 {
		plain, _ := lexer.Unescape(ahead.Src[arg.Start+1 : arg.End-1])
		if ts.findings.full(threat.ModuleLoading, catalogue.ModulePower, strings.TrimPrefix(plain, "node:")) {
			return // what else the module means was found when it was loaded first
		}
		name = textValue(plain)
	}
	ts.loader.load(name, at, how)
}
