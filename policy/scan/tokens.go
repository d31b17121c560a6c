package scan

import (
	"strings"

	"github.com/airlock-run/airlock/policy/threat"
)

// scanTokens scans code that has no syntax tree: names that stand for powers, with the members written after them. It knows
// no scopes and follows no values.
func (w *scanner) scanTokens(text string) []hit {
	w.hits, w.seen, w.count = nil, nil, nil
	w.budget = &budget{left: workFor(len(text))}
	l := lexer{src: text}
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
			w.member(nil, name, at, true)
		case member:
			w.tokenMethod(name, at, l.text(t))
		default:
			before, t = w.tokenChain(&l, name, at, before, t)
		}
	}
	return w.hits
}

// tokenMethod covers a member of something unknown.
func (w *scanner) tokenMethod(name string, at int, next string) {
	if s := w.cat.methods[name]; s != nil && next == "(" {
		w.found(s, at)
	}
	if name == "constructor" && next == "." {
		w.hit(threat.CodeInjection, evalPower, "", at, "a constructor's members may reach Function")
	}
}

// tokenChain follows name.member.member( through the catalogue.
func (w *scanner) tokenChain(l *lexer, name string, at int, before, t token) (token, token) {
	if name == "import" && l.text(t) == "(" {
		w.tele.Flags.HasDynamicImport = true
		w.tokenLoad(l, at, "import")
		return t, l.next()
	}
	v := w.global(name, at)
	if v != nil {
		w.free[name] = struct{}{}
	}
	for v != nil && (l.text(t) == "." || l.text(t) == "?.") {
		before, t = t, l.next()
		if t.kind != tokenWord {
			return before, t
		}
		v = w.member(v, l.text(t), at, true)
		before, t = t, l.next()
	}
	if v == nil || v.kind != kindSymbol || l.text(t) != "(" {
		return before, t
	}
	switch s := v.sym; {
	case s.role == roleRequire:
		w.tele.Flags.HasRequire = true
		w.tokenLoad(l, at, "require")
		return t, l.next()
	case s.onUse:
		w.found(s, at)
		if s.role == roleFunction {
			w.tele.Flags.HasEval = true
		}
	}
	return before, t
}

// tokenLoad reads the argument of require or import on a copy of the lexer.
func (w *scanner) tokenLoad(l *lexer, at int, how string) {
	ahead := *l // it may write behind the end of the stack that both have, which nobody reads
	arg := ahead.next()
	var name *value
	if arg.kind == tokenString && arg.end-arg.start >= 2 {
		plain, _ := unescape(ahead.src[arg.start+1 : arg.end-1])
		if w.full(threat.ModuleLoading, modulePower, strings.TrimPrefix(plain, "node:")) {
			return // what else the module means was found when it was loaded first
		}
		name = textValue(plain)
	}
	w.load(name, at, how)
}
