package flow

import "github.com/tdewolff/parse/v2/js"

// program holds what is known of the code's own variables and functions. Walks add to it.
type program struct {
	scope  *scope
	values *values
	facts  *facts

	vars    map[*js.Var]*variable
	imports map[string]*value
	props   map[string]*value // by name: powerful values assigned to members of unknown objects
	fns     map[any]*function

	calls map[callOf]struct{} // calls that were followed

	// changed are the members that the code changes in prototypes that others share; fills reports that code adds what
	// it found missing there.
	changed map[string]bool
	fills   bool

	round      int
	again      bool // another walk may find more
	dynamicKey bool
	tasks      bool // queueMicrotask or its like was called
}

// callOf is a call of one function of the tree by another.
type callOf struct{ caller, callee any }

// follows records a call of a function by the code that the walk is in.
func (p *program) follows(f *function) {
	c := callOf{caller: p.scope.place(), callee: f.node}
	if f.node != nil {
		p.calls[c] = struct{}{}
	}
}

// variable holds the values that one binding may have.
type variable struct {
	now, all *value
	home     *function
	branch   int
	// free is the name of a variable that the code does not declare, stands is the host's global of that name.
	free   string
	stands *value
	listed bool // among the names that the code does not declare
	// early marks a variable that was read before its values were known.
	early bool
	// joined marks a variable that the code sets to a text that it puts together; given marks one that is set to what
	// the caller passes in.
	joined, given bool
}

// gives records that a variable is set to what the caller passes in.
func (p *program) gives(v *js.Var) {
	info := p.variable(v)
	p.again = p.again || !info.given && p.dynamicKey
	info.given = true
}

// keep records the value that was assigned to a member.
func (p *program) keep(base *value, key string, v *value) {
	if v == nil {
		return
	}
	for b := base; b != nil; b = b.alt {
		switch {
		case b.kind == kindObject:
			p.values.set(b.obj, key, v)
		case b.kind == kindFunction && v.kind == kindFunction:
			b.fn.set(key, v)
		}
	}
	if v.dangerous() && !p.props[key].holds(v) {
		p.props[key] = p.values.either(v, p.props[key])
		p.again = true
	}
}

func resolved(v *js.Var) *js.Var {
	for v.Link != nil {
		v = v.Link
	}
	return v
}

func (p *program) variable(v *js.Var) *variable {
	v = resolved(v)
	info := p.vars[v]
	if info == nil {
		info = &variable{home: p.scope.frame, branch: p.scope.branch}
		p.vars[v] = info
	}
	return info
}

// assign sets a variable. On a straight line the value replaces the old one, behind a branch it joins it.
func (p *program) assign(v *js.Var, val *value) {
	if val == nil && p.vars[resolved(v)] == nil {
		return
	}
	info := p.variable(v)
	if val != nil && info.early && p.matters(val) && !info.all.holds(val) {
		p.again = true
	}
	if info.home == p.scope.frame && info.branch == p.scope.branch {
		info.now = val
	} else if val != nil {
		info.now = p.values.either(val, info.now)
	}
	if val != nil {
		info.all = p.values.either(val, info.all)
	}
}

// matters reports whether a value that turned up after it was needed justifies another walk.
func (p *program) matters(v *value) bool {
	switch v.kind {
	case kindText:
		return p.dynamicKey
	case kindFunction, kindObject:
		// Functions matter where timers do: they may set timers for themselves. Objects are new in every walk.
		return (p.facts.Flags.HasTimers || p.tasks) && p.round == 0
	}
	return v.powerful()
}

// function returns the record of a function node. It is the same in every round.
func (p *program) function(node any, params js.Params, plain bool) *function {
	f := p.fns[node]
	if f == nil {
		f = &function{params: params, plain: plain, node: node, id: len(p.fns) + 1}
		p.fns[node] = f
	}
	return f
}

// returns records a value that the current function may return.
func (p *program) returns(v *value) {
	if p.scope.frame == nil || v == nil || p.scope.frame.ret.holds(v) {
		return
	}
	if p.scope.frame.called && p.matters(v) {
		p.again = true
	}
	p.scope.frame.ret = p.values.either(v, p.scope.frame.ret)
}
