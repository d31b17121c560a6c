package flow

import "github.com/tdewolff/parse/v2/js"

// destructure walks a pattern and the value that it destructures. In source the pattern is first.
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
	if w.host.isGiven(from) {
		w.givesParts(b)
	}
	if v != nil {
		end := w.cursor.offset
		w.cursor.offset = start
		w.bind(b, v)
		w.cursor.offset = max(end, w.cursor.offset)
	}
}

// bind walks a pattern and assigns the parts of v to its variables.
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

// bindKey returns the member of v that one item of an object pattern names, and its place.
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
			// a short-hand binding is passed with its variable
			w.cursor.offset = max(w.cursor.offset-len(item.Key.Literal.Data), 0)
			w.cursor.at = w.cursor.offset
		}
	}
	if !ok {
		return nil, w.cursor.at
	}
	at := w.cursor.at
	return w.host.member(v, key, at, true), at
}

// muted silences the findings while part of the source is walked only for its positions.
func (w *walker) muted() bool {
	was := w.scope.quiet
	w.scope.quiet = true
	return was
}

func (w *walker) unmute(was bool) { w.scope.quiet = was }

// funcDecl walks a function declaration or expression.
func (w *walker) funcDecl(d *js.FuncDecl) *value {
	f := w.program.function(d, d.Params, true)
	f.interop = passesModule(d.Params, d.Body.List)
	v := &value{kind: kindFunction, fn: f}
	if d.Name != nil {
		w.cursor.passName(d.Name)
		info := w.program.variable(d.Name)
		info.now, info.all = w.values.either(v, info.now), w.values.either(v, info.all)
	}
	w.body(f, d.Params, d.Body.List, &value{kind: kindMaybeGlobal})
	return v
}

// body walks the parameters and statements of a function. A nil this means that of the surrounding function.
func (w *walker) body(f *function, params js.Params, list []js.IStmt, this *value) {
	w.facts.Metrics.FunctionCount++
	outer := *w.scope
	w.scope.frame, w.scope.loops, w.scope.endless, w.scope.quiet = f, 0, 0, false // what stands in stays so inside
	w.scope.region = nil
	if this != nil {
		w.scope.this = this
	}
	w.scope.branch++
	for _, p := range params.List {
		// Calls bind the parameters. Here only the source of the parameters is walked.
		w.bindParam(p)
	}
	if params.Rest != nil {
		w.bind(params.Rest, nil)
	}
	w.block(list)
	w.scope.branch--
	w.scope.frame, w.scope.this, w.scope.loops, w.scope.endless, w.scope.quiet = outer.frame, outer.this, outer.loops,
		outer.endless, outer.quiet
	w.scope.region = outer.region
}

func (w *walker) bindParam(p js.BindingElement) {
	if v, ok := p.Binding.(*js.Var); ok {
		w.cursor.passName(v)
		if p.Default != nil {
			if d := w.expressions.expr(p.Default); d != nil {
				w.program.variable(v).branch = -1 // a default never replaces what calls bring
				w.program.assign(v, d)
			}
		}
		return
	}
	w.bindDefault(p, nil)
}
