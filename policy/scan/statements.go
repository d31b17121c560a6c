package scan

import "github.com/tdewolff/parse/v2/js"

// block walks statements in order. Functions are declared first, as the language hoists them.
func (w *scanner) block(list []js.IStmt) {
	for _, s := range list {
		if f, ok := s.(*js.FuncDecl); ok && f.Name != nil {
			w.variable(f.Name).now = &value{kind: kindFunction, fn: w.function(f, f.Params, true)}
			w.variable(f.Name).all = w.variable(f.Name).now
		}
	}
	for _, s := range list {
		w.stmt(s)
	}
}

func (w *scanner) stmt(s js.IStmt) {
	if s != nil && w.visit() {
		w.statement(s)
		w.leave()
	}
}

func (w *scanner) statement(s js.IStmt) {
	switch s := s.(type) {
	case *js.ExprStmt:
		w.expr(s.Value)
	case *js.VarDecl:
		w.varDecl(s)
	case *js.BlockStmt:
		w.block(s.List)
	case *js.IfStmt:
		w.tele.Metrics.Cyclomatic++
		w.test(s.Cond)
		w.branched(func() { w.stmt(s.Body); w.stmt(s.Else) })
	case *js.ReturnStmt:
		w.returns(w.expr(s.Value))
	case *js.ThrowStmt:
		w.expr(s.Value)
	case *js.FuncDecl:
		w.funcDecl(s)
	case *js.ClassDecl:
		v := w.class(s)
		if s.Name != nil {
			w.assign(s.Name, v)
		}
	case *js.TryStmt:
		w.branched(func() { w.block(s.Body.List) })
		if s.Catch != nil {
			w.tele.Metrics.Cyclomatic++
			w.bind(s.Binding, nil)
			w.branched(func() { w.block(s.Catch.List) })
		}
		if s.Finally != nil {
			w.block(s.Finally.List)
		}
	case *js.SwitchStmt:
		w.expr(s.Init)
		for _, c := range s.List {
			if c.Cond != nil {
				w.tele.Metrics.Cyclomatic++
				w.compared(c.Cond)
			}
			w.branched(func() { w.block(c.List) })
		}
	case *js.LabelledStmt:
		w.pass(s.Label)
		w.stmt(s.Value)
	case *js.BranchStmt:
		if s.Label != nil {
			w.pass(s.Label)
		}
	case *js.WithStmt:
		outer := w.with
		w.with = w.either(w.expr(s.Cond), outer)
		w.branched(func() { w.stmt(s.Body) })
		w.with = outer
	case *js.ImportStmt:
		w.importStmt(s)
	case *js.ExportStmt:
		w.exportStmt(s)
	case *js.DirectivePrologueStmt:
		w.pass(s.Value)
	default:
		w.loop(s)
	}
}

// loop walks the loops.
func (w *scanner) loop(s js.IStmt) {
	switch s := s.(type) {
	case *js.WhileStmt:
		w.looped(isTrue(s.Cond), func() { w.test(s.Cond); w.stmt(s.Body) })
	case *js.DoWhileStmt:
		w.looped(isTrue(s.Cond), func() { w.stmt(s.Body); w.test(s.Cond) })
	case *js.ForStmt:
		w.expr(s.Init)
		w.looped(s.Cond == nil || isTrue(s.Cond) || isLong(s.Cond), func() { w.test(s.Cond); w.expr(s.Post); w.block(s.Body.List) })
	case *js.ForInStmt:
		w.forTarget(s.Init, nil)
		keys := keysOf(w.expr(s.Value))
		w.forTarget(s.Init, w.itemsOf(keys))
		w.looped(false, func() { w.block(s.Body.List) })
	case *js.ForOfStmt:
		// The target stands before what it iterates over, in source and so in the walk; its values are bound afterwards.
		w.forTarget(s.Init, nil)
		items := w.expr(s.Value)
		w.forTarget(s.Init, w.itemsOf(items))
		w.looped(false, func() { w.block(s.Body.List) })
	}
}

// itemsOf gives what iterating over a value yields.
func (w *scanner) itemsOf(v *value) *value {
	var out *value
	for ; v != nil; v = v.alt {
		if v.kind == kindArray && w.budget.take(len(v.obj.elems)) {
			for _, e := range v.obj.elems {
				out = w.either(out, e)
			}
		}
	}
	return out
}

// forTarget walks a loop's target, or, given values, binds it without walking it again.
func (w *scanner) forTarget(init js.IExpr, items *value) {
	decl, declares := init.(*js.VarDecl)
	switch {
	case declares && items == nil:
		w.varDecl(decl)
	case declares:
		for _, item := range decl.List {
			if v, ok := item.Binding.(*js.Var); ok {
				w.assign(v, items)
			}
		}
	case items == nil:
		w.expr(init)
	}
}

func (w *scanner) looped(endless bool, body func()) {
	w.tele.Metrics.LoopCount++
	w.tele.Metrics.Cyclomatic++
	w.loops++
	if endless {
		w.endless++
	}
	w.branched(body)
	if endless {
		w.endless--
	}
	w.loops--
}

func (w *scanner) branched(body func()) {
	w.branch++
	body()
	w.branch--
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

func (w *scanner) varDecl(d *js.VarDecl) {
	for _, item := range d.List {
		if v, ok := item.Binding.(*js.Var); ok {
			w.passName(v)
			if item.Default != nil {
				w.assign(v, w.expr(item.Default))
			}
			continue
		}
		w.destructure(item.Binding, item.Default)
	}
}

// destructure walks a pattern and what it takes apart. In source the pattern stands first.
func (w *scanner) destructure(b js.IBinding, from js.IExpr) {
	if from == nil {
		w.bind(b, nil)
		return
	}
	if b == nil {
		w.expr(from)
		return
	}
	start := w.cursor
	hits := w.muted()
	w.bind(b, nil)
	w.unmute(hits)
	v := w.expr(from)
	if v != nil {
		end := w.cursor
		w.cursor = start
		w.bind(b, v)
		w.cursor = max(end, w.cursor)
	}
}

// bind walks a pattern and gives its variables the parts of v.
func (w *scanner) bind(b js.IBinding, v *value) {
	if b != nil && w.visit() {
		w.pattern(b, v)
		w.leave()
	}
}

func (w *scanner) pattern(b js.IBinding, v *value) {
	switch b := b.(type) {
	case *js.Var:
		w.passName(b)
		w.assign(b, v)
	case *js.BindingObject:
		for _, item := range b.List {
			part, at := w.bindKey(item, v)
			w.at = at
			if item.Value.Default != nil {
				w.bindDefault(item.Value, part)
			} else {
				w.bind(item.Value.Binding, part)
			}
		}
		if b.Rest != nil {
			w.passName(b.Rest)
			w.assign(b.Rest, v)
		}
	case *js.BindingArray:
		for i, item := range b.List {
			w.bindDefault(item, w.elementOf(v, i))
		}
		w.bind(b.Rest, v)
	}
}

func (w *scanner) bindDefault(item js.BindingElement, v *value) {
	w.bind(item.Binding, v)
	if item.Default != nil {
		d := w.expr(item.Default)
		if target, ok := item.Binding.(*js.Var); ok && d != nil {
			w.assign(target, w.either(v, d))
		}
	}
}

// bindKey gives the member of v that one item of an object pattern takes.
func (w *scanner) bindKey(item js.BindingObjectItem, v *value) (*value, int) {
	if item.Key == nil {
		return nil, w.at
	}
	key, ok := "", false
	if item.Key.Computed != nil {
		key, ok = w.textOf(w.expr(item.Key.Computed))
	} else {
		key, ok = w.propertyText(item.Key.Literal), true
		w.pass(item.Key.Literal.Data)
		if off, inSource := w.offsetOf(item.Key.Literal.Data); inSource {
			w.at = off
		} else {
			w.cursor = max(w.cursor-len(item.Key.Literal.Data), 0) // a short-hand binding is passed with its variable
			w.at = w.cursor
		}
	}
	if !ok {
		return nil, w.at
	}
	at := w.at
	return w.member(v, key, at, true), at
}

func (w *scanner) elementOf(v *value, i int) *value {
	var out *value
	for ; v != nil; v = v.alt {
		if v.kind == kindArray && i < len(v.obj.elems) {
			out = w.either(out, v.obj.elems[i])
		}
	}
	return out
}

// muted sets the findings aside while a part of the source is walked for its positions only.
func (w *scanner) muted() bool {
	was := w.quiet
	w.quiet = true
	return was
}

func (w *scanner) unmute(was bool) { w.quiet = was }
