package flow

import (
	"strings"

	"github.com/tdewolff/parse/v2/js"

	"github.com/airlock-run/airlock/policy/scan/internal/lexer"
	"github.com/airlock-run/airlock/policy/scan/internal/syntax"
)

// manyRounds is the number of rounds from which a loop that sets timers is a flood.
const manyRounds = 1000

func (w *walker) importStmt(s *js.ImportStmt) {
	type binding struct {
		name, as string
		at       int
	}
	var names []binding
	if s.Default != nil {
		names = append(names, binding{"default", string(s.Default), w.cursor.pass(s.Default)})
	}
	for _, a := range s.List {
		b := binding{name: string(a.Name), as: string(a.Binding), at: w.cursor.offset}
		switch {
		case a.Binding == nil:
			continue
		case a.Name == nil:
			b.name = b.as
			b.at = w.cursor.pass(a.Binding)
		default:
			b.at = w.cursor.pass(a.Name)
			b.name, _ = lexer.Unescape(strings.Trim(b.name, "\"'"))
			w.cursor.pass(a.Binding)
		}
		names = append(names, b)
	}
	at := w.cursor.pass(s.Module)
	module := w.loader.load(textValue(w.cursor.stringText(s.Module)), at, "static import")
	for _, b := range names {
		v := module
		if b.name != "*" && b.name != "default" && module != nil {
			v = w.host.member(module, b.name, b.at, true)
		}
		w.program.imports[b.as] = v
	}
}

func (w *walker) exportStmt(s *js.ExportStmt) {
	if s.Decl != nil {
		if d, ok := s.Decl.(js.IStmt); ok {
			w.stmt(d)
			return
		}
		w.expressions.expr(s.Decl)
		return
	}
	for _, a := range s.List {
		if a.Name != nil {
			w.cursor.pass(a.Name)
		}
		if a.Binding != nil {
			w.cursor.pass(a.Binding)
		}
	}
	if s.Module != nil {
		at := w.cursor.pass(s.Module)
		w.loader.load(textValue(w.cursor.stringText(s.Module)), at, "static import")
	}
}

// block walks statements in order. It declares functions first, because the language hoists them.
func (w *walker) block(list []js.IStmt) {
	for _, s := range list {
		if f, ok := s.(*js.FuncDecl); ok && f.Name != nil {
			w.program.variable(f.Name).now = &value{kind: kindFunction, fn: w.program.function(f, f.Params, true)}
			w.program.variable(f.Name).all = w.program.variable(f.Name).now
		}
	}
	outer := w.scope.region
	for _, s := range list {
		if f, ok := s.(*js.FuncDecl); ok {
			after := w.scope.region
			w.scope.region = outer
			w.stmt(f)
			w.scope.region = after
			continue
		}
		w.stmt(s)
		if syntax.MayLeave(s) {
			w.scope.enter(s, true)
		}
	}
	w.scope.region = outer
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
		w.branched(func() {
			left := w.scope.missesNot(s.Cond)
			w.scope.within(s, false, func() { w.standsIn(isNot(s.Cond), s.Body) })
			w.scope.missing = w.scope.missing[:left]
			w.scope.within(s, true, func() { w.standsIn(true, s.Else) })
		})
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
		w.scope.fallback++
		w.branched(func() { w.block(s.Body.List) })
		w.scope.fallback--
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

// standsIn walks a branch that, if it is one, stands in for what may be missing.
func (w *walker) standsIn(does bool, s js.IStmt) {
	if does {
		w.scope.fallback++
		defer func() { w.scope.fallback-- }()
	}
	w.stmt(s)
}

// isNot reports whether a condition is a negation.
func isNot(e js.IExpr) bool {
	u, ok := ungrouped(e).(*js.UnaryExpr)
	return ok && u.Op == js.NotToken
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
		w.looped(s.Cond == nil || isTrue(s.Cond) || isLong(s.Cond),
			func() { w.expressions.test(s.Cond); w.expressions.expr(s.Post); w.block(s.Body.List) })
	case *js.ForInStmt:
		w.forTarget(s.Init, nil)
		keys := keysOf(w.expressions.expr(s.Value))
		w.forTarget(s.Init, w.values.itemsOf(keys))
		w.looped(false, func() { w.block(s.Body.List) })
	case *js.ForOfStmt:
		// The target is before the iterated value in source, and so in the walk. Its values are bound afterwards.
		w.forTarget(s.Init, nil)
		items := w.expressions.expr(s.Value)
		w.forTarget(s.Init, w.values.itemsOf(items))
		w.looped(false, func() { w.block(s.Body.List) })
	}
}

// forTarget walks the target of a loop. Given values, it binds them without another walk.
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

// isLong reports whether a loop's condition is of the form i < 100000.
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
				w.host.origin(v, item.Default)
			}
			continue
		}
		w.destructure(item.Binding, item.Default)
	}
}
