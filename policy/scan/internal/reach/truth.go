package reach

import (
	"strconv"

	"github.com/tdewolff/parse/v2/js"

	"github.com/airlock-run/airlock/policy/scan/internal/syntax"
)

// A test of what the sandbox has, such as typeof globalThis === "object", has one outcome, and the branch for the other
// never runs. A value is followed from the test through variables that are set once and through members by name: it is
// true where something live sets it to what may be true. What is not known may be both true and false. Code that sets
// what it tests turns all of this off for that name.

// tests knows which branches may run, and what variables and members may be true.
type tests struct {
	bindings
	guard
	// current is what runs the current code: a function, a branch, or the top level.
	current *node
}

// truth holds whether any member of a name may be true.
type truth struct {
	node *node
	// written reports that the code sets such a member. One that it never sets comes from data.
	written bool
}

// kindOf returns what typeof says in the sandbox of a name that the code does not declare, if that is known.
func kindOf(name string) (string, bool) {
	switch name {
	case "globalThis", "navigator":
		return "object", true
	case "Bun", "Deno", "XMLHttpRequest":
		return "undefined", true
	}
	return "", false
}

// touches records that the code writes a member of a name or has the name as a text, and so may change the global.
func (ts *tests) touches(name string) {
	if _, ok := kindOf(name); ok {
		ts.current.leadTo(ts.graph.touchedBy(name))
	}
}

func (g *Graph) touchedBy(name string) *node {
	n := g.touched[name]
	if n == nil {
		n = &node{}
		if g.given[name] {
			g.root.leadTo(n)
		}
		g.touched[name] = n
	}
	return n
}

// member returns the truth of the members of a name.
func (g *Graph) member(name string) *truth {
	t := g.truths[name]
	if t == nil {
		t = &truth{node: &node{}}
		g.truths[name] = t
	}
	return t
}

// sets records that a member of a name is set to the value of an expression; nil is a value that may be true.
func (ts *tests) sets(name string, e js.IExpr) {
	t := ts.graph.member(name)
	t.written = true
	ts.assumes(t.node, e)
}

// assumes lets a truth follow from the value of an expression; nil is a value that may be true.
func (ts *tests) assumes(t *node, e js.IExpr) {
	if n := ts.holds(e, true); n != nil {
		and(n, ts.current).leadTo(t)
		return
	}
	ts.current.leadTo(t)
}

// changes records that the variables of a target may hold anything.
func (ts *tests) changes(e js.IExpr) {
	if e == nil || !ts.enter() {
		return
	}
	defer ts.leave()
	switch e := ungrouped(e).(type) {
	case *js.Var:
		ts.current.leadTo(ts.variable(e).truth)
		if resolved(e).Decl == js.NoDecl {
			ts.touches(plain(e.Data))
		}
	case *js.DotExpr:
		ts.sets(member(e), nil)
		ts.touches(member(e))
	case *js.IndexExpr:
		if name, ok := constant(e.Y); ok {
			ts.sets(name, nil)
		}
	case *js.VarDecl:
		for _, item := range e.List {
			each(item.Binding, func(v *js.Var) { ts.current.leadTo(ts.declared(v).truth) })
		}
	case *js.ArrayExpr:
		for _, el := range e.List {
			ts.changes(el.Value)
		}
	case *js.ObjectExpr:
		for _, p := range e.List {
			ts.changes(p.Value)
		}
	case *js.BinaryExpr:
		if e.Op == js.EqToken {
			ts.changes(e.X)
		}
	}
}

// each calls do with the variables of a pattern.
func each(b js.IBinding, do func(*js.Var)) {
	switch b := b.(type) {
	case *js.Var:
		do(b)
	case *js.BindingArray:
		for _, el := range b.List {
			each(el.Binding, do)
		}
		each(b.Rest, do)
	case *js.BindingObject:
		for _, item := range b.List {
			each(item.Value.Binding, do)
		}
		if b.Rest != nil {
			do(b.Rest)
		}
	}
}

// holds returns a node that is live if an expression may be true, or false, as asked. A nil node is always live.
func (ts *tests) holds(e js.IExpr, asked bool) *node {
	if e == nil || !ts.enter() {
		return nil
	}
	defer ts.leave()
	switch e := ungrouped(e).(type) {
	case *js.LiteralExpr:
		switch e.TokenType {
		case js.TrueToken:
			return ts.only(asked)
		case js.DecimalToken, js.IntegerToken: // if (1) return
			if n, err := strconv.ParseFloat(string(e.Data), 64); err == nil {
				return ts.only(asked == (n != 0))
			}
		case js.FalseToken, js.NullToken:
			return ts.only(!asked)
		}
	case *js.Var:
		if asked && resolved(e).Decl != js.NoDecl {
			return ts.variable(e).truth
		}
	case *js.DotExpr:
		if name := member(e); asked && !isBuiltInBase(e) && name != "" {
			return ts.graph.member(name).node
		}
	case *js.UnaryExpr:
		if e.Op == js.NotToken {
			return ts.holds(e.X, !asked)
		}
	case *js.BinaryExpr:
		switch e.Op {
		case js.AndToken, js.OrToken:
			x, y := ts.holds(e.X, asked), ts.holds(e.Y, asked)
			if asked == (e.Op == js.AndToken) {
				return both(x, y)
			}
			return oneOf(x, y)
		case js.EqToken:
			return ts.holds(e.Y, asked)
		}
		return ts.compared(e, asked)
	}
	return nil
}

// only returns a node that is always live, or never.
func (ts *tests) only(live bool) *node {
	if live {
		return nil
	}
	return ts.graph.never
}

// assigns records what the targets of an assignment hold afterwards.
func (ts *tests) assigns(targets []js.IExpr, e js.IExpr) {
	for _, t := range targets {
		switch t := ungrouped(t).(type) {
		case *js.Var:
			ts.assumes(ts.variable(t).truth, e)
			if resolved(t).Decl == js.NoDecl {
				ts.touches(plain(t.Data))
			}
		case *js.DotExpr:
			ts.sets(member(t), e)
			ts.touches(member(t))
		default:
			ts.changes(t)
		}
	}
}

// gated returns a node that is live if a test may hold, and into is live; a nil test always holds.
func gated(test, into *node) *node {
	if test == nil {
		return into
	}
	return and(test, into)
}

// both returns a node that is live if both are.
func both(x, y *node) *node {
	switch {
	case x == nil:
		return y
	case y == nil:
		return x
	}
	return and(x, y)
}

// oneOf returns a node that is live if either is.
func oneOf(x, y *node) *node {
	if x == nil || y == nil {
		return nil
	}
	n := &node{}
	x.leadTo(n)
	y.leadTo(n)
	return n
}

// compared returns the node of a comparison of typeof with a text. Minifiers write typeof x > "u" for "undefined".
func (ts *tests) compared(e *js.BinaryExpr, asked bool) *node {
	u, ok := ungrouped(e.X).(*js.UnaryExpr)
	with, isText := constant(e.Y)
	if !ok || !isText || u.Op != js.TypeofToken {
		return nil
	}
	v, ok := ungrouped(u.X).(*js.Var)
	if !ok || resolved(v).Decl != js.NoDecl {
		return nil
	}
	kind, known := kindOf(plain(v.Data))
	if !known {
		return nil
	}
	outcome := kind == with
	switch e.Op {
	case js.EqEqToken, js.EqEqEqToken:
	case js.NotEqToken, js.NotEqEqToken:
		outcome = !outcome
	case js.GtToken:
		outcome = kind > with
	case js.LtToken:
		outcome = kind < with
	default:
		return nil
	}
	if outcome == asked {
		return nil
	}
	return ts.graph.touchedBy(plain(v.Data))
}

// isBuiltInBase reports whether a member is one of a built-in object.
func isBuiltInBase(e *js.DotExpr) bool {
	v, ok := ungrouped(e.X).(*js.Var)
	return ok && resolved(v).Decl == js.NoDecl
}

// branch walks a part of the code that runs only if a node is live; nil is always live.
func (ts *tests) branch(test *node, of any, isElse bool, walk func()) {
	if test == nil {
		walk()
		return
	}
	outer := ts.current
	ts.current = and(test, outer)
	ts.source.functions[syntax.Branch{Of: of, Else: isElse}] = ts.current
	walk()
	ts.current = outer
}

// rest returns a node that is live if what follows a statement in its block may run; nil is always live.
func (ts *tests) rest(s js.IStmt) *node {
	switch i, ok := s.(*js.IfStmt); {
	case !syntax.MayLeave(s):
		return nil
	case ok:
		return ts.holds(i.Cond, false)
	}
	return ts.graph.never
}
