package flow

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/tdewolff/parse/v2/js"

	"github.com/airlock-run/airlock/policy/scan/internal/catalogue"
	"github.com/airlock-run/airlock/policy/scan/internal/cost"
	"github.com/airlock-run/airlock/policy/scan/internal/lexer"
)

// expressions walks expressions and returns what is known of their values.
type expressions struct {
	budget   *cost.Budget
	cat      *catalogue.Catalogue
	findings *findings
	facts    *facts
	cursor   *cursor
	scope    *scope
	guard    *guard
	values   *values
	program  *program
	host     *host
	loader   *loader
	calls    *calls
	walker   *walker
}

func (ex *expressions) call(e *js.CallExpr) *value {
	if lit, ok := e.X.(*js.LiteralExpr); ok && lit.TokenType == js.ImportToken {
		return ex.dynamicImport(e, lit)
	}
	callee := ex.loud(e.X)
	if isSuper(e.X) {
		callee = ex.scope.super
	}
	at := ex.cursor.at
	c := call{at: at, args: ex.args(e.Args.List), received: hasReceiver(e.X), named: isForeign(e.X)}
	if len(e.Args.List) > 0 {
		c.arrives, c.joined = ex.host.arrives(e.Args.List), ex.host.joinsLast(e.Args.List)
		c.given = ex.host.given(e.Args.List)
		c.foreign, c.outside = isForeign(e.Args.List[0].Value), ex.host.isOutside(e.Args.List[0].Value)
		c.passed = len(e.Args.List) == 2 && isArguments(e.Args.List[1].Value)
		c.method = len(e.Args.List) == 3 && isMethod(e.Args.List[2].Value)
	}
	c.handles = ex.scope.handler == e
	ex.calls.pollution(e.X, c)
	ex.calls.leaks(e.X, c)
	v := c.arg(0)
	if !isInterop(e.X) {
		v = ex.values.either(ex.calls.invoke(callee, c), c.loader())
	}
	ex.cursor.at = at
	return v
}

// isSuper reports whether an expression is super, which a constructor calls.
func isSuper(e js.IExpr) bool {
	l, ok := e.(*js.LiteralExpr)
	return ok && l.TokenType == js.SuperToken
}

func isArguments(e js.IExpr) bool {
	v, ok := e.(*js.Var)
	return ok && string(v.Data) == "arguments"
}

// isForeign reports whether an expression is a name that the code does not declare, such as input.
func isForeign(e js.IExpr) bool {
	v, ok := e.(*js.Var)
	return ok && resolved(v).Decl == js.NoDecl
}

func (ex *expressions) construct(e *js.NewExpr) *value {
	callee := ex.loud(e.X)
	c := call{at: ex.cursor.at, isNew: true, named: isForeign(e.X)}
	if e.Args != nil {
		c.args, c.arrives = ex.args(e.Args.List), ex.host.arrives(e.Args.List)
		c.joined, c.given = ex.host.joinsLast(e.Args.List), ex.host.given(e.Args.List)
	}
	v := ex.calls.invoke(callee, c)
	ex.cursor.at = c.at
	return v
}

// args walks the arguments and returns their values.
func (ex *expressions) args(list []js.Arg) []*value {
	if len(list) == 0 {
		return nil
	}
	out := make([]*value, 0, len(list))
	for _, a := range list {
		v := ex.loud(a.Value)
		if a.Rest {
			if v != nil && v.kind == kindArray && ex.budget.Take(len(v.obj.elems)*cost.ElementWork) {
				out = append(out, v.obj.elems...)
				continue
			}
			v = nil
		}
		out = append(out, v)
	}
	return out
}

// expr walks an expression in source order and returns its value. It leaves the place to report in cursor.at.
func (ex *expressions) expr(e js.IExpr) *value {
	if e == nil || !ex.guard.enter() {
		return nil
	}
	v := ex.valueOf(e)
	ex.guard.leave()
	return v
}

func (ex *expressions) valueOf(e js.IExpr) *value {
	switch e := e.(type) {
	case *js.Var:
		return ex.read(e)
	case *js.LiteralExpr:
		return ex.literal(e)
	case *js.GroupExpr:
		return ex.expr(e.X)
	case *js.DotExpr:
		return ex.dot(e)
	case *js.IndexExpr:
		return ex.index(e)
	case *js.CallExpr:
		return ex.call(e)
	case *js.NewExpr:
		return ex.construct(e)
	case *js.BinaryExpr:
		return ex.binary(e)
	case *js.UnaryExpr:
		return ex.unary(e)
	case *js.CondExpr:
		ex.facts.Metrics.Cyclomatic++
		ex.test(e.Cond)
		ex.scope.handler = handlerOf(e)
		return ex.values.either(ex.scope.choice(e, false, ex.fallback, e.X), ex.scope.choice(e, true, ex.fallback, e.Y))
	case *js.CommaExpr:
		var last *value
		for _, x := range e.List {
			last = ex.expr(x)
		}
		return last
	case *js.FuncDecl:
		return ex.walker.funcDecl(e)
	case *js.ArrowFunc:
		f := ex.program.function(e, e.Params, false)
		f.interop = passesModule(e.Params, e.Body.List)
		ex.walker.body(f, e.Params, e.Body.List, nil)
		return &value{kind: kindFunction, fn: f}
	case *js.ClassDecl:
		return ex.class(e)
	case *js.VarDecl:
		ex.walker.varDecl(e)
		return nil
	}
	return ex.compound(e)
}

// compound walks the expressions that consist of parts.
func (ex *expressions) compound(e js.IExpr) *value {
	switch e := e.(type) {
	case *js.ArrayExpr:
		return ex.array(e)
	case *js.ObjectExpr:
		return ex.object(e)
	case *js.TemplateExpr:
		return ex.template(e)
	case *js.YieldExpr:
		ex.program.returns(ex.expr(e.X))
	case *js.MethodDecl:
		return ex.method(e, ex.scope.this)
	case *js.ImportMetaExpr:
		ex.cursor.at = ex.cursor.locate([]byte("import"))
		return symbolValue(ex.cat.ImportMeta)
	}
	return nil
}

func (ex *expressions) literal(e *js.LiteralExpr) *value {
	at := ex.cursor.pass(e.Data)
	ex.cursor.at = at
	switch e.TokenType {
	case js.StringToken:
		return textValue(ex.cursor.stringText(e.Data))
	case js.RegExpToken:
		return &value{kind: kindRegExp, text: regExpSource(e.Data)}
	case js.ThisToken:
		return ex.scope.this
	case js.SuperToken:
		return &value{kind: kindObject, obj: &object{}}
	}
	if js.IsNumeric(e.TokenType) {
		if n, ok := parseNumber(ex.cursor.source(e.Data)); ok {
			return &value{kind: kindNumber, num: n}
		}
	}
	return nil
}

// regExpSource returns the pattern of a regular expression literal.
func regExpSource(data []byte) string {
	if end := bytes.LastIndexByte(data, '/'); end > 0 {
		return string(data[1:end])
	}
	return ""
}

func parseNumber(s string) (float64, bool) {
	s = strings.ReplaceAll(s, "_", "")
	if len(s) > 2 && s[0] == '0' && strings.ContainsAny(s[1:2], "xXoObB") {
		n, err := strconv.ParseUint(s, 0, 53)
		return float64(n), err == nil
	}
	n, err := strconv.ParseFloat(s, 64)
	return n, err == nil
}

func formatNumber(n float64) string {
	if n == float64(int64(n)) && n > -1e15 && n < 1e15 {
		return strconv.FormatInt(int64(n), 10)
	}
	return strconv.FormatFloat(n, 'g', -1, 64)
}

// test walks an expression of which only the truth matters.
func (ex *expressions) test(e js.IExpr) {
	inner := e
	for {
		g, ok := inner.(*js.GroupExpr)
		if !ok {
			break
		}
		inner = g.X
	}
	b, ok := inner.(*js.BinaryExpr)
	if !ok || b.Op != js.AndToken && b.Op != js.OrToken || !ex.guard.enter() {
		ex.compared(e)
		return
	}
	ex.facts.Metrics.Cyclomatic++
	ex.test(b.X)
	ex.scope.within(b, b.Op == js.OrToken, func() { ex.test(b.Y) })
	ex.guard.leave()
}

// compared walks an operand that is only compared. Naming a power there does not acquire it.
func (ex *expressions) compared(e js.IExpr) *value {
	inner := e
	for {
		g, ok := inner.(*js.GroupExpr)
		if !ok {
			break
		}
		inner = g.X
	}
	switch inner.(type) {
	case *js.Var, *js.DotExpr, *js.IndexExpr, *js.ObjectExpr:
		was := ex.scope.quiet
		ex.scope.quiet = true
		v := ex.expr(inner)
		ex.scope.quiet = was
		return v
	}
	return ex.expr(e)
}

// loud walks an operand whose value is used, whatever surrounds it.
func (ex *expressions) loud(e js.IExpr) *value {
	was := ex.scope.quiet
	ex.scope.quiet = false
	v := ex.expr(e)
	ex.scope.quiet = was
	return v
}

func (ex *expressions) unary(e *js.UnaryExpr) *value {
	switch e.Op {
	case js.TypeofToken, js.NotToken, js.VoidToken:
		ex.compared(e.X)
		return nil
	case js.DeleteToken:
		was := ex.scope.quiet
		ex.scope.quiet = true
		ex.target(e.X, true)
		ex.scope.quiet = was
		return nil
	case js.PreIncrToken, js.PreDecrToken, js.PostIncrToken, js.PostDecrToken:
		ex.target(e.X, false)
		return nil
	case js.AwaitToken:
		return ex.expr(e.X)
	case js.NegToken:
		v := ex.expr(e.X)
		if v != nil && v.alt == nil && v.kind == kindNumber {
			return &value{kind: kindNumber, num: -v.num}
		}
		return nil
	}
	ex.expr(e.X)
	return nil
}

func (ex *expressions) binary(e *js.BinaryExpr) *value {
	// A long chain of operators leans to the left. A loop walks its spine, because recursion would be too deep.
	if spine := ex.spine(e); spine != nil {
		return ex.chain(spine)
	}
	switch e.Op {
	case js.EqToken:
		return ex.assignment(e)
	case js.EqEqToken, js.EqEqEqToken, js.NotEqToken, js.NotEqEqToken, js.InstanceofToken, js.InToken:
		ex.compared(e.X)
		ex.compared(e.Y)
		return nil
	case js.AndToken:
		ex.facts.Metrics.Cyclomatic++
		ex.test(e.X)
		left := ex.scope.missesNot(e.X)
		v := ex.scope.choice(e, false, ex.expr, e.Y)
		ex.scope.missing = ex.scope.missing[:left]
		return v
	case js.OrToken, js.NullishToken:
		ex.facts.Metrics.Cyclomatic++
		v := ex.expr(e.X)
		left := ex.scope.misses(e.X)
		v = ex.values.either(v, ex.scope.choice(e, true, ex.fallback, e.Y))
		ex.scope.missing = ex.scope.missing[:left]
		return v
	case js.AddToken:
		return ex.values.concat(ex.expr(e.X), ex.expr(e.Y))
	}
	if isAssignment(e.Op) {
		return ex.update(e)
	}
	ex.expr(e.X)
	ex.expr(e.Y)
	return nil
}

// fallback walks an expression that stands in for what may be missing.
func (ex *expressions) fallback(e js.IExpr) *value {
	ex.scope.fallback++
	v := ex.expr(e)
	ex.scope.fallback--
	return v
}

// spine returns the operands of a long chain of additions, first to last, or nil.
func (ex *expressions) spine(e *js.BinaryExpr) []js.IExpr {
	n := 0
	for x := js.IExpr(e); ; n++ {
		b, ok := x.(*js.BinaryExpr)
		if !ok || b.Op != js.AddToken {
			break
		}
		x = b.X
	}
	if n < 8 {
		return nil
	}
	out := make([]js.IExpr, n+1)
	for x := js.IExpr(e); n > 0; n-- {
		b := x.(*js.BinaryExpr)
		out[n] = b.Y
		x = b.X
		out[0] = x
	}
	ex.facts.Metrics.ASTNodeCount += len(out) - 2
	return out
}

func (ex *expressions) chain(operands []js.IExpr) *value {
	sum := ex.expr(operands[0])
	for _, x := range operands[1:] {
		sum = ex.values.concat(sum, ex.expr(x))
	}
	return sum
}

func (ex *expressions) dynamicImport(e *js.CallExpr, lit *js.LiteralExpr) *value {
	at := ex.cursor.locate(lit.Data)
	ex.facts.Flags.HasDynamicImport = true
	args := ex.args(e.Args.List)
	var name *value
	if len(args) > 0 {
		name = args[0]
	}
	v := ex.loader.load(name, at, "import")
	ex.cursor.at = at
	return v
}

// read returns the values that a variable may have where it is mentioned, and reports a name that is a power.
func (ex *expressions) read(v *js.Var) *value {
	ex.cursor.passName(v)
	info := ex.program.variable(v)
	if v = resolved(v); v.Decl == js.NoDecl {
		return ex.readFree(v, info)
	}
	val := info.all
	if info.home == ex.scope.frame && ex.scope.loops == 0 {
		val = info.now
	}
	if val == nil {
		info.early = true
	}
	return val
}

// readFree resolves a name that the code does not declare.
func (ex *expressions) readFree(v *js.Var, info *variable) *value {
	if info.free == "" {
		info.free, _ = lexer.Unescape(ex.cursor.source(v.Data))
		info.stands = ex.host.standsFor(info.free)
	}
	name := info.free
	if val, ok := ex.program.imports[name]; ok {
		return val
	}
	if name[0] == '#' {
		return ex.program.props[name]
	}
	if !info.listed {
		ex.facts.free[name], info.listed = struct{}{}, true
	}
	if ex.host.globals[name] {
		return nil
	}
	if info.all != nil {
		return info.all
	}
	if ex.scope.with != nil && (info.stands == nil || info.stands.kind == kindGlobal) {
		return ex.host.member(ex.scope.with, name, ex.cursor.at, true)
	}
	return ex.host.mentioned(info.stands, ex.cursor.at)
}
