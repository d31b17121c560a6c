package reach

import "github.com/tdewolff/parse/v2/js"

// required returns the specifier of a call of require.
func required(e *js.CallExpr) (string, bool) {
	v, ok := ungrouped(e.X).(*js.Var)
	if !ok || string(v.Data) != "require" && string(v.Data) != "__require" || len(e.Args.List) != 1 {
		return "", false
	}
	return constant(e.Args.List[0].Value)
}

// interop reports whether a callee is one of the helpers that compilers put around require.
func (b *bindings) interop(callee js.IExpr) bool {
	v, ok := ungrouped(callee).(*js.Var)
	if !ok {
		return false
	}
	if b.variable(v).interop {
		return true
	}
	switch string(v.Data) {
	case "__importDefault", "__importStar", "__toESM", "_interopRequireDefault", "_interopRequireWildcard",
		"_interopDefault", "_interopDefaultLegacy", "_interopNamespace":
		return true
	}
	return false
}

// wrapped returns the parameters of a module's function, if a call is that of a bundler's helper: helper((exports,
// module) => {…}) or helper({"path"(exports, module) {…}}).
func wrapped(e *js.CallExpr) map[*js.Var]bool {
	if len(e.Args.List) != 1 {
		return nil
	}
	var params js.Params
	switch a := ungrouped(e.Args.List[0].Value).(type) {
	case *js.ArrowFunc:
		params = a.Params
	case *js.FuncDecl:
		params = a.Params
	case *js.ObjectExpr:
		if len(a.List) != 1 {
			return nil
		}
		switch p := a.List[0].Value.(type) {
		case *js.MethodDecl:
			params = p.Params
		case *js.FuncDecl:
			params = p.Params
		case *js.ArrowFunc:
			params = p.Params
		default:
			return nil
		}
	default:
		return nil
	}
	out := map[*js.Var]bool{}
	for _, p := range params.List {
		if v, ok := p.Binding.(*js.Var); ok {
			out[resolved(v)] = true
		}
	}
	return out
}

// imports walks an import. Its names are variables that the parser does not declare.
func (w *walker) imports(s *js.ImportStmt) {
	specifier := plain(s.Module)
	if len(specifier) >= 2 {
		specifier = specifier[1 : len(specifier)-1]
	}
	module := w.graph.module(w.file, specifier)
	if s.Default != nil {
		w.source.local(plain(s.Default)).leadTo(module)
	}
	for _, a := range s.List {
		if a.Binding == nil {
			continue
		}
		as := w.source.local(plain(a.Binding))
		if a.Name != nil && string(a.Name) != "*" {
			as.leadTo(w.graph.name(plain(a.Name)))
		}
		as.leadTo(module)
	}
}

// exports walks an export. The caller may call what the code itself exports.
func (w *walker) exports(s *js.ExportStmt) {
	whole := &node{}
	for _, n := range w.graph.exports(w.file) {
		n.leadTo(whole)
	}
	if w.file == "" {
		w.current.leadTo(whole)
	}
	switch d := s.Decl.(type) {
	case nil:
	case *js.FuncDecl:
		w.export(d.Name, w.function(d, d.Params, d.Body.List), whole, s.Default)
	case *js.ClassDecl:
		w.export(d.Name, w.class(d, nil), whole, s.Default)
	case *js.VarDecl:
		w.declare(d)
		for _, item := range d.List {
			w.exportNames(item.Binding)
		}
	default:
		w.value(s.Decl, whole)
	}
	for _, a := range s.List {
		name, as := a.Name, a.Binding
		if name == nil {
			name = as
		}
		from := w.source.local(plain(name))
		if s.Module != nil {
			from = w.graph.name(plain(name))
		}
		if as != nil {
			w.graph.name(plain(as)).leadTo(from)
			if string(as) == "default" {
				whole.leadTo(from)
			}
		}
		if w.file == "" {
			w.current.leadTo(from)
		}
	}
}

// exportNames exports the variables of a declaration.
func (w *walker) exportNames(b js.IBinding) {
	each(b, func(v *js.Var) {
		w.graph.name(plain(v.Data)).leadTo(w.declared(v).node)
		if w.file == "" {
			w.use(v)
		}
	})
}

// export stores a function or class that is exported.
func (w *walker) export(name *js.Var, f, whole *node, isDefault bool) {
	if name != nil {
		x := w.declared(name)
		x.used = true
		w.current.leadTo(x.truth)
		x.node.leadTo(f)
		w.graph.name(plain(name.Data)).leadTo(x.node)
	}
	if isDefault || name == nil || w.file == "" {
		whole.leadTo(f)
	}
}
