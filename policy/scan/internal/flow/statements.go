package flow

import "github.com/tdewolff/parse/v2/js"

// block walks statements in order. Functions are declared first, as the language hoists them.
func (w *walker) block(list []js.IStmt) {
	for _, s := range list {
		if f, ok := s.(*js.FuncDecl); ok && f.Name != nil {
			w.program.variable(f.Name).now = &value{kind: kindFunction, fn: w.program.function(f, f.Params, true)}
			w.program.variable(f.Name).all = w.program.variable(f.Name).now
		}
	}
	for _, s := range list {
		w.stmt(s)
	}
}

func (w *walker) stmt(s js.IStmt) {
	if s != nil && w.guard.enter() {
		w.statement(s)
		w.guard.leave()
	}
}

func (w *walker) statement(s js.IStmt) {
	switch s := s.(type) {
	case *js.ExprStmt:
		w.expressions.expr(s.Value)
	case *js.VarDecl:
		w.varDecl(s)
	case *js.BlockStmt:
		w.block(s.List)
	case *js.IfStmt:
		w.facts.Metrics.Cyclomatic++
		w.expressions.test(s.Cond)
		w.branched(func() { w.stmt(s.Body); w.stmt(s.Else) })
	case *js.ReturnStmt:
		w.program.returns(w.expressions.expr(s.Value))
	case *js.ThrowStmt:
		w.expressions.expr(s.Value)
	case *js.FuncDecl:
		w.funcDecl(s)
	case *js.ClassDecl:
		v := w.expressions.class(s)
		if s.Name != nil {
			w.program.assign(s.Name, v)
		}
	case *js.TryStmt:
		w.branched(func() { w.block(s.Body.List) })
		if s.Catch != nil {
			w.facts.Metrics.Cyclomatic++
			w.bind(s.Binding, nil)
			w.branched(func() { w.block(s.Catch.List) })
		}
		if s.Finally != nil {
			w.block(s.Finally.List)
		}
	case *js.SwitchStmt:
		w.expressions.expr(s.Init)
		for _, c := range s.List {
			if c.Cond != nil {
				w.facts.Metrics.Cyclomatic++
				w.expressions.compared(c.Cond)
			}
			w.branched(func() { w.block(c.List) })
		}
	case *js.LabelledStmt:
		w.cursor.pass(s.Label)
		w.stmt(s.Value)
	case *js.BranchStmt:
		if s.Label != nil {
			w.cursor.pass(s.Label)
		}
	case *js.WithStmt:
		outer := w.scope.with
		w.scope.with = w.values.either(w.expressions.expr(s.Cond), outer)
		w.branched(func() { w.stmt(s.Body) })
		w.scope.with = outer
	case *js.ImportStmt:
		w.importStmt(s)
	case *js.ExportStmt:
		w.exportStmt(s)
	case *js.DirectivePrologueStmt:
		w.cursor.pass(s.Value)
	default:
		w.loop(s)
	}
}

// loop walks the loops.
func (w *walker) loop(s js.IStmt) {
	switch s := s.(type) {
	case *js.WhileStmt:
		w.looped(isTrue(s.Cond), func() { w.expressions.test(s.Cond); w.stmt(s.Body) })
	case *js.DoWhileStmt:
		w.looped(isTrue(s.Cond), func() { w.stmt(s.Body); w.expressions.test(s.Cond) })
	case *js.ForStmt:
		w.expressions.expr(s.Init)
		w.looped(s.Cond == nil || isTrue(s.Cond) || isLong(s.Cond), func() { w.expressions.test(s.Cond); w.expressions.expr(s.Post); w.block(s.Body.List) })
	case *js.ForInStmt:
		w.forTarget(s.Init, nil)
		keys := keysOf(w.expressions.expr(s.Value))
		w.forTarget(s.Init, w.values.itemsOf(keys))
		w.looped(false, func() { w.block(s.Body.List) })
	case *js.ForOfStmt:
		// The target stands before what it iterates over, in source and so in the walk; its values are bound afterwards.
		w.forTarget(s.Init, nil)
		items := w.expressions.expr(s.Value)
		w.forTarget(s.Init, w.values.itemsOf(items))
		w.looped(false, func() { w.block(s.Body.List) })
	}
}

// itemsOf gives what iterating over a value yields.
func (vs *values) itemsOf(v *value) *value {
	var out *value
	for ; v != nil; v = v.alt {
		if v.kind == kindArray && vs.budget.Take(len(v.obj.elems)) {
			for _, e := range v.obj.elems {
				out = vs.either(out, e)
			}
		}
	}
	return out
}

// forTarget walks a loop's target, or, given values, binds it without walking it again.
func (w *walker) forTarget(init js.IExpr, items *value) {
	decl, declares := init.(*js.VarDecl)
	switch {
	case declares && items == nil:
		w.varDecl(decl)
	case declares:
		for _, item := range decl.List {
			if v, ok := item.Binding.(*js.Var); ok {
				w.program.assign(v, items)
			}
		}
	case items == nil:
		w.expressions.expr(init)
	}
}

func (w *walker) looped(endless bool, body func()) {
	w.facts.Metrics.LoopCount++
	w.facts.Metrics.Cyclomatic++
	w.scope.loops++
	if endless {
		w.scope.endless++
	}
	w.branched(body)
	if endless {
		w.scope.endless--
	}
	w.scope.loops--
}

func (w *walker) branched(body func()) {
	w.scope.branch++
	body()
	w.scope.branch--
}

// manyRounds is from how many rounds on a loop that sets timers is a flood.
const manyRounds = 1000

// isLong reports a loop's condition of the sort i < 100000.
func isLong(e js.IExpr) bool {
	b, ok := e.(*js.BinaryExpr)
	if !ok || b.Op != js.LtToken && b.Op != js.LtEqToken {
		return false
	}
	l, ok := b.Y.(*js.LiteralExpr)
	if !ok || !js.IsNumeric(l.TokenType) {
		return false
	}
	n, ok := parseNumber(string(l.Data))
	return ok && n >= manyRounds
}

func isTrue(e js.IExpr) bool {
	switch e := e.(type) {
	case *js.LiteralExpr:
		return e.TokenType == js.TrueToken || js.IsNumeric(e.TokenType) && string(e.Data) != "0"
	case *js.UnaryExpr:
		return e.Op == js.NotToken && !isTrue(e.X)
	case *js.GroupExpr:
		return isTrue(e.X)
	}
	return false
}

func (w *walker) varDecl(d *js.VarDecl) {
	for _, item := range d.List {
		if v, ok := item.Binding.(*js.Var); ok {
			w.cursor.passName(v)
			if item.Default != nil {
				w.program.assign(v, w.expressions.expr(item.Default))
			}
			continue
		}
		w.destructure(item.Binding, item.Default)
	}
}

// destructure walks a pattern and what it takes apart. In source the pattern stands first.
func (w *walker) destructure(b js.IBinding, from js.IExpr) {
	if from == nil {
		w.bind(b, nil)
		return
	}
	if b == nil {
		w.expressions.expr(from)
		return
	}
	start := w.cursor.offset
	hits := w.muted()
	w.bind(b, nil)
	w.unmute(hits)
	v := w.expressions.expr(from)
	if v != nil {
		end := w.cursor.offset
		w.cursor.offset = start
		w.bind(b, v)
		w.cursor.offset = max(end, w.cursor.offset)
	}
}

// bind walks a pattern and gives its variables the parts of v.
func (w *walker) bind(b js.IBinding, v *value) {
	if b != nil && w.guard.enter() {
		w.pattern(b, v)
		w.guard.leave()
	}
}

func (w *walker) pattern(b js.IBinding, v *value) {
	switch b := b.(type) {
	case *js.Var:
		w.cursor.passName(b)
		w.program.assign(b, v)
	case *js.BindingObject:
		for _, item := range b.List {
			part, at := w.bindKey(item, v)
			w.cursor.at = at
			if item.Value.Default != nil {
				w.bindDefault(item.Value, part)
			} else {
				w.bind(item.Value.Binding, part)
			}
		}
		if b.Rest != nil {
			w.cursor.passName(b.Rest)
			w.program.assign(b.Rest, v)
		}
	case *js.BindingArray:
		for i, item := range b.List {
			w.bindDefault(item, w.values.elementOf(v, i))
		}
		w.bind(b.Rest, v)
	}
}

func (w *walker) bindDefault(item js.BindingElement, v *value) {
	w.bind(item.Binding, v)
	if item.Default != nil {
		d := w.expressions.expr(item.Default)
		if target, ok := item.Binding.(*js.Var); ok && d != nil {
			w.program.assign(target, w.values.either(v, d))
		}
	}
}

// bindKey gives the member of v that one item of an object pattern takes.
func (w *walker) bindKey(item js.BindingObjectItem, v *value) (*value, int) {
	if item.Key == nil {
		return nil, w.cursor.at
	}
	key, ok := "", false
	if item.Key.Computed != nil {
		key, ok = w.values.textOf(w.expressions.expr(item.Key.Computed))
	} else {
		key, ok = w.cursor.propertyText(item.Key.Literal), true
		w.cursor.pass(item.Key.Literal.Data)
		if off, inSource := w.cursor.offsetOf(item.Key.Literal.Data); inSource {
			w.cursor.at = off
		} else {
			w.cursor.offset = max(w.cursor.offset-len(item.Key.Literal.Data), 0) // a short-hand binding is passed with its variable
			w.cursor.at = w.cursor.offset
		}
	}
	if !ok {
		return nil, w.cursor.at
	}
	at := w.cursor.at
	return w.host.member(v, key, at, true), at
}

func (vs *values) elementOf(v *value, i int) *value {
	var out *value
	for ; v != nil; v = v.alt {
		if v.kind == kindArray && i < len(v.obj.elems) {
			out = vs.either(out, v.obj.elems[i])
		}
	}
	return out
}

// muted sets the findings aside while a part of the source is walked for its positions only.
func (w *walker) muted() bool {
	was := w.scope.quiet
	w.scope.quiet = true
	return was
}

func (w *walker) unmute(was bool) { w.scope.quiet = was }
