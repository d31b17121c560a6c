package flow

import "github.com/tdewolff/parse/v2/js"

// passesModule reports whether a function is one of the helpers that compilers put around require, under whatever name:
//
//	m => m && m.__esModule ? m : {default: m}
//	function (m) { if (m && m.__esModule) return m; … }
//	(m, mode, target) => (…, copy(mode || !m || !m.__esModule ? … : target, m))
func passesModule(params js.Params, body []js.IStmt) bool {
	if len(params.List) == 0 || len(params.List) > 3 || len(body) == 0 {
		return false
	}
	m, ok := params.List[0].Binding.(*js.Var)
	if !ok {
		return false
	}
	switch s := body[0].(type) {
	case *js.IfStmt:
		return testsModule(s.Cond, m) && returns(s.Body, m)
	case *js.ReturnStmt:
		switch e := ungrouped(s.Value).(type) {
		case *js.CondExpr:
			_, wraps := ungrouped(e.Y).(*js.ObjectExpr)
			return wraps && testsModule(e.Cond, m) && isVar(e.X, m)
		case *js.CommaExpr:
			call, ok := ungrouped(e.List[len(e.List)-1]).(*js.CallExpr)
			if !ok || len(params.List) != 3 || len(call.Args.List) != 2 || !isVar(call.Args.List[1].Value, m) {
				return false
			}
			target, ok := ungrouped(call.Args.List[0].Value).(*js.CondExpr)
			return ok && testsModule(target.Cond, m)
		}
	}
	return false
}

// returns reports whether a statement does nothing but return a variable.
func returns(s js.IStmt, v *js.Var) bool {
	if b, ok := s.(*js.BlockStmt); ok && len(b.List) == 1 {
		s = b.List[0]
	}
	r, ok := s.(*js.ReturnStmt)
	return ok && isVar(r.Value, v)
}

// testsModule reports whether a condition ends with m.__esModule or its negation.
func testsModule(e js.IExpr, m *js.Var) bool {
	e = ungrouped(e)
	if b, ok := e.(*js.BinaryExpr); ok && (b.Op == js.AndToken || b.Op == js.OrToken) {
		e = ungrouped(b.Y)
	}
	if u, ok := e.(*js.UnaryExpr); ok && u.Op == js.NotToken {
		e = ungrouped(u.X)
	}
	d, ok := e.(*js.DotExpr)
	if !ok || !isVar(d.X, m) {
		return false
	}
	name, ok := d.Y.(js.LiteralExpr)
	return ok && string(name.Data) == "__esModule"
}

// isVar reports whether an expression is a variable.
func isVar(e js.IExpr, v *js.Var) bool {
	x, ok := ungrouped(e).(*js.Var)
	return ok && resolved(x) == resolved(v)
}

func ungrouped(e js.IExpr) js.IExpr {
	for {
		g, ok := e.(*js.GroupExpr)
		if !ok {
			return e
		}
		e = g.X
	}
}

// exports records what the function around the walk, if it is that of a module, exports: function (exports, module) {
// module.exports = require("fs") }.
func (p *program) exports(target js.IExpr, key string, v *value) {
	d, ok := target.(*js.DotExpr)
	if !ok || key != "exports" || p.scope.frame == nil || len(p.scope.frame.params.List) != 2 || !v.dangerous() {
		return
	}
	if module, ok := p.scope.frame.params.List[1].Binding.(*js.Var); !ok || !isVar(d.X, module) {
		return
	}
	if p.scope.frame.loader == nil {
		p.scope.frame.loader = &function{}
	}
	p.scope.frame.loader.ret = p.values.either(v, p.scope.frame.loader.ret)
}

// loader returns what a bundler's helper makes of the function of a module, helper((exports, module) => {…})
// or helper({"path"(exports, module) {…}}); nil for other calls.
func (c *call) loader() *value {
	if len(c.args) != 1 || c.args[0] == nil {
		return nil
	}
	f := c.args[0]
	if f.kind == kindObject && len(f.obj.props) == 1 {
		for _, only := range f.obj.props {
			f = only
		}
	}
	if f == nil || f.kind != kindFunction || f.fn.loader == nil {
		return nil
	}
	return &value{kind: kindFunction, fn: f.fn.loader}
}
