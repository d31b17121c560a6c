package scan

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/tdewolff/parse/v2/js"
)

// expr walks an expression in source order and gives what is known of its value. It leaves w.at at the place to report.
func (w *scanner) expr(e js.IExpr) *value {
	if e == nil || !w.visit() {
		return nil
	}
	v := w.valueOf(e)
	w.leave()
	return v
}

func (w *scanner) valueOf(e js.IExpr) *value {
	switch e := e.(type) {
	case *js.Var:
		return w.read(e)
	case *js.LiteralExpr:
		return w.literal(e)
	case *js.GroupExpr:
		return w.expr(e.X)
	case *js.DotExpr:
		return w.dot(e)
	case *js.IndexExpr:
		return w.index(e)
	case *js.CallExpr:
		return w.call(e)
	case *js.NewExpr:
		return w.construct(e)
	case *js.BinaryExpr:
		return w.binary(e)
	case *js.UnaryExpr:
		return w.unary(e)
	case *js.CondExpr:
		w.tele.Metrics.Cyclomatic++
		w.test(e.Cond)
		return w.either(w.expr(e.X), w.expr(e.Y))
	case *js.CommaExpr:
		var last *value
		for _, x := range e.List {
			last = w.expr(x)
		}
		return last
	case *js.FuncDecl:
		return w.funcDecl(e)
	case *js.ArrowFunc:
		f := w.function(e, e.Params, false)
		w.body(f, e.Params, e.Body.List, nil)
		return &value{kind: kindFunction, fn: f}
	case *js.ClassDecl:
		return w.class(e)
	case *js.VarDecl:
		w.varDecl(e)
		return nil
	}
	return w.compound(e)
}

// compound walks the expressions that hold parts.
func (w *scanner) compound(e js.IExpr) *value {
	switch e := e.(type) {
	case *js.ArrayExpr:
		return w.array(e)
	case *js.ObjectExpr:
		return w.object(e)
	case *js.TemplateExpr:
		return w.template(e)
	case *js.YieldExpr:
		w.returns(w.expr(e.X))
	case *js.MethodDecl:
		return w.method(e, w.this)
	case *js.ImportMetaExpr:
		w.at = w.locate([]byte("import"))
		return symbolValue(w.cat.importMeta)
	}
	return nil
}

func (w *scanner) literal(e *js.LiteralExpr) *value {
	at := w.pass(e.Data)
	w.at = at
	switch e.TokenType {
	case js.StringToken:
		return textValue(w.stringText(e.Data))
	case js.RegExpToken:
		return &value{kind: kindRegExp, text: regExpSource(e.Data)}
	case js.ThisToken:
		return w.this
	case js.SuperToken:
		return &value{kind: kindObject, obj: &object{}}
	}
	if js.IsNumeric(e.TokenType) {
		if n, ok := parseNumber(w.source(e.Data)); ok {
			return &value{kind: kindNumber, num: n}
		}
	}
	return nil
}

// regExpSource gives the pattern of a regular expression literal.
func regExpSource(data []byte) string {
	if end := bytes.LastIndexByte(data, '/'); end > 0 {
		return string(data[1:end])
	}
	return ""
}

// stringText gives the content of a string literal.
func (w *scanner) stringText(data []byte) string {
	if len(data) < 2 {
		return ""
	}
	plain, _ := unescape(w.source(data[1 : len(data)-1]))
	return plain
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
func (w *scanner) test(e js.IExpr) {
	w.compared(e)
}

// compared walks an operand that is only looked at: naming a power there does not acquire it.
func (w *scanner) compared(e js.IExpr) *value {
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
		was := w.quiet
		w.quiet = true
		v := w.expr(inner)
		w.quiet = was
		return v
	}
	return w.expr(e)
}

// loud walks an operand whose value is used whatever surrounds it.
func (w *scanner) loud(e js.IExpr) *value {
	was := w.quiet
	w.quiet = false
	v := w.expr(e)
	w.quiet = was
	return v
}

func (w *scanner) unary(e *js.UnaryExpr) *value {
	switch e.Op {
	case js.TypeofToken, js.NotToken, js.VoidToken:
		w.compared(e.X)
		return nil
	case js.DeleteToken:
		was := w.quiet
		w.quiet = true
		w.target(e.X)
		w.quiet = was
		return nil
	case js.PreIncrToken, js.PreDecrToken, js.PostIncrToken, js.PostDecrToken:
		w.target(e.X)
		return nil
	case js.AwaitToken:
		return w.expr(e.X)
	case js.NegToken:
		v := w.expr(e.X)
		if v != nil && v.alt == nil && v.kind == kindNumber {
			return &value{kind: kindNumber, num: -v.num}
		}
		return nil
	}
	w.expr(e.X)
	return nil
}

func (w *scanner) binary(e *js.BinaryExpr) *value {
	// A long chain of operators leans to the left: walk its spine in a loop, not by recursion.
	if spine := w.spine(e); spine != nil {
		return w.chain(spine)
	}
	switch e.Op {
	case js.EqToken:
		return w.assignment(e)
	case js.EqEqToken, js.EqEqEqToken, js.NotEqToken, js.NotEqEqToken, js.InstanceofToken, js.InToken:
		w.compared(e.X)
		w.compared(e.Y)
		return nil
	case js.AndToken:
		w.tele.Metrics.Cyclomatic++
		w.test(e.X)
		return w.expr(e.Y)
	case js.OrToken, js.NullishToken:
		w.tele.Metrics.Cyclomatic++
		return w.either(w.expr(e.X), w.expr(e.Y))
	case js.AddToken:
		return w.concat(w.expr(e.X), w.expr(e.Y))
	}
	if isAssignment(e.Op) {
		return w.update(e)
	}
	w.expr(e.X)
	w.expr(e.Y)
	return nil
}

// spine gives the operands of a chain of additions, first to last, when there are many.
func (w *scanner) spine(e *js.BinaryExpr) []js.IExpr {
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
	w.tele.Metrics.ASTNodeCount += len(out) - 2
	return out
}

func (w *scanner) chain(operands []js.IExpr) *value {
	sum := w.expr(operands[0])
	for _, x := range operands[1:] {
		sum = w.concat(sum, w.expr(x))
	}
	return sum
}

func isAssignment(op js.TokenType) bool {
	switch op {
	case js.MulEqToken, js.DivEqToken, js.ModEqToken, js.ExpEqToken, js.AddEqToken, js.SubEqToken, js.LtLtEqToken,
		js.GtGtEqToken, js.GtGtGtEqToken, js.BitAndEqToken, js.BitXorEqToken, js.BitOrEqToken, js.AndEqToken, js.OrEqToken,
		js.NullishEqToken:
		return true
	}
	return false
}

// update walks x op= y.
func (w *scanner) update(e *js.BinaryExpr) *value {
	old := w.target(e.X)
	v := w.expr(e.Y)
	switch e.Op {
	case js.AddEqToken:
		v = w.concat(old, v)
	case js.AndEqToken, js.OrEqToken, js.NullishEqToken:
		v = w.either(old, v)
	default:
		v = nil
	}
	if target, ok := e.X.(*js.Var); ok {
		w.assign(target, v)
	}
	return v
}

// assignment walks x = y.
func (w *scanner) assignment(e *js.BinaryExpr) *value {
	switch target := e.X.(type) {
	case *js.Var:
		w.passName(target)
		v := w.expr(e.Y)
		w.assign(target, v)
		return v
	case *js.DotExpr, *js.IndexExpr:
		return w.store(target, e.Y)
	}
	pattern := w.expr(e.X)
	v := w.expr(e.Y)
	w.spread(e.X, v)
	if v == nil {
		return pattern
	}
	return v
}

// spread gives the variables of an assignment pattern their parts of v. The pattern has been walked already.
func (w *scanner) spread(target js.IExpr, v *value) {
	if v == nil || !w.visit() {
		return
	}
	defer w.leave()
	switch t := target.(type) {
	case *js.Var:
		w.assign(t, v)
	case *js.GroupExpr:
		w.spread(t.X, v)
	case *js.BinaryExpr:
		if t.Op == js.EqToken {
			w.spread(t.X, v)
		}
	case *js.ObjectExpr:
		for _, p := range t.List {
			switch {
			case p.Spread:
				w.spread(p.Value, v)
			case p.Name != nil && p.Name.Computed == nil:
				w.spread(p.Value, w.member(v, w.propertyText(p.Name.Literal), w.at, true))
			}
		}
	case *js.ArrayExpr:
		for i, el := range t.List {
			if el.Value != nil {
				w.spread(el.Value, w.elementOf(v, i))
			}
		}
	}
}
