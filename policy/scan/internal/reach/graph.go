package reach

import (
	"path"
	"strings"

	"github.com/tdewolff/parse/v2/js"

	"github.com/airlock-run/airlock/policy/scan/internal/cost"
	"github.com/airlock-run/airlock/policy/scan/internal/syntax"
)

// A Graph holds what the functions, variables and names of all sources of a scan lead to.
type Graph struct {
	root  *node
	names map[string]*node
	// lost reports that the graph lacks something, so that everything may be live.
	lost bool
	// files are the paths beside the code.
	files map[string]bool
	// never is a node that nothing leads to.
	never *node
	// truths and touched hold what decides a feature test; see truth.go.
	truths  map[string]*truth
	touched map[string]*node
	// given are the globals that the caller defines.
	given map[string]bool
}

// node is a function, a variable or a name. If it is live, so is what it leads to.
type node struct {
	live bool
	// sure is live by variables and calls alone. property marks the name of a property, which any object may have.
	sure, property bool
	to             []*node
	// both, if set, are the nodes that must both be live for this one to be.
	both [2]*node
	// members leads to all that an object literal holds, if the node stands for one.
	members *node
}

func (n *node) leadTo(m *node) {
	if n != nil && m != nil && n != m && (len(n.to) == 0 || n.to[len(n.to)-1] != m) {
		n.to = append(n.to, m)
	}
}

// and returns a node that is live if both a and b are.
func and(a, b *node) *node {
	if a == b {
		return a
	}
	n := &node{both: [2]*node{a, b}}
	a.leadTo(n)
	b.leadTo(n)
	return n
}

// New returns a graph without sources. Files are the paths beside the code, globals the names that the caller defines.
func New(files map[string]bool, globals []string) *Graph {
	g := &Graph{root: &node{}, names: map[string]*node{}, files: files, never: &node{}, truths: map[string]*truth{},
		touched: map[string]*node{}, given: map[string]bool{}}
	for _, name := range globals {
		g.given[name] = true
	}
	return g
}

// A Source holds the functions of one source, and the branches of it that may never be taken.
type Source struct {
	graph     *Graph
	functions map[any]*node
	// locals are the names that the source imports or declares at its top level.
	locals map[string]*node
}

// Add adds a parsed source. File is its path among the files beside the code, "" for the code itself, whose exports the
// caller may call. If the work does not suffice, everything is live.
func (g *Graph) Add(list []js.IStmt, file string, b *cost.Budget) *Source {
	w := &walker{
		file: file,
		tests: tests{guard: guard{budget: b}, current: g.root, bindings: bindings{graph: g, vars: map[*js.Var]*variable{},
			source: &Source{graph: g, functions: map[any]*node{}, locals: map[string]*node{}}}},
	}
	w.block(list)
	for v, x := range w.vars {
		if v.Decl != js.NoDecl && x.top && !x.used {
			g.root.leadTo(x.node) // only the caller can use what the code declares and does not mention
		}
	}
	g.lost = g.lost || w.lost
	return w.source
}

// Lose makes everything live: a source could not be added.
func (g *Graph) Lose() { g.lost = true }

// Call adds a call that was found in another way. Functions are nodes of the tree. A nil caller is the top level, and a
// *syntax.Region a branch.
func (s *Source) Call(caller, callee any) {
	from := s.graph.root
	if caller != nil {
		from = s.at(caller)
	}
	from.leadTo(s.functions[callee])
}

// at returns the node of a function, or of the innermost branch whose test is known.
func (s *Source) at(place any) *node {
	if r, ok := place.(*syntax.Region); ok {
		for ; r != nil; r = r.Outer {
			if n := s.functions[r.Branch]; n != nil {
				return n
			}
			place = r.Function
		}
	}
	if place == nil {
		return s.graph.root
	}
	return s.functions[place]
}

// Solve marks what is live. It is called once, after all sources were added.
func (g *Graph) Solve() {
	g.root.live = true
	for _, t := range g.truths {
		if !t.written {
			g.root.leadTo(t.node) // a member of data, which the code never sets
		}
	}
	g.root.spread(func(n *node) bool {
		if n.live || n.both[0] != nil && !(n.both[0].live && n.both[1].live) {
			return false
		}
		n.live = true
		return true
	})
	g.root.sure = true
	g.root.spread(func(n *node) bool {
		if n.sure || n.property || n.both[0] != nil && !(n.both[0].sure && n.both[1].sure) {
			return false
		}
		n.sure = true
		return true
	})
}

// spread passes a mark on from a node to all that it leads to. Mark reports whether a node is marked now.
func (n *node) spread(mark func(*node) bool) {
	for next := []*node{n}; len(next) > 0; {
		n := next[len(next)-1]
		next = next[:len(next)-1]
		for _, m := range n.to {
			if mark(m) {
				next = append(next, m)
			}
		}
	}
}

// Live reports whether a place may run: a function, or a branch of one as a *syntax.Region. Nil is the top level.
func (s *Source) Live(place any) bool { return s.is(place, func(n *node) bool { return n.live }) }

// Sure reports whether the code leads to a place by variables and calls alone, and not by the name of a property, which
// functions that it never calls may share.
func (s *Source) Sure(place any) bool { return s.is(place, func(n *node) bool { return n.sure }) }

func (s *Source) is(place any, marked func(*node) bool) bool {
	if s.graph.lost || place == nil {
		return true
	}
	n := s.at(place)
	return n == nil || marked(n)
}

func (g *Graph) name(name string) *node {
	n := g.names[name]
	if n == nil {
		n = &node{property: !strings.HasPrefix(name, "module ")}
		g.names[name] = n
		for _, method := range implied(name) {
			n.leadTo(g.name(method))
		}
	}
	return n
}

// local returns the node of a name that a source imports or declares at its top level. It leads to the global of that
// name, in case that the source does neither.
func (s *Source) local(name string) *node {
	n := s.locals[name]
	if n == nil {
		n = &node{}
		n.leadTo(s.graph.name(name))
		s.locals[name] = n
	}
	return n
}

// module returns the node of what a module exports as a whole.
func (g *Graph) module(file, specifier string) *node {
	if strings.HasPrefix(specifier, ".") {
		specifier = path.Join(path.Dir("/"+file), specifier)
	}
	return g.name("module " + moduleName(specifier))
}

// moduleName returns a path without what a specifier may leave out.
func moduleName(p string) string {
	switch ext := path.Ext(p); ext {
	case ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx":
		p = strings.TrimSuffix(p, ext)
	}
	return strings.TrimSuffix(p, "/index")
}

// exports returns the nodes under which others may import what a file exports as a whole.
func (g *Graph) exports(file string) []*node {
	out := []*node{g.module(file, "/"+file)}
	if i := strings.LastIndex(file, "node_modules/"); i >= 0 {
		before, inside := file[:i+len("node_modules/")], file[i+len("node_modules/"):]
		out = append(out, g.module(file, inside))
		// A package whose index is another file names that in its package.json.
		parts := strings.SplitN(inside, "/", 3)
		name := parts[0]
		if strings.HasPrefix(name, "@") && len(parts) > 1 {
			name += "/" + parts[1]
		}
		if !g.files[before+name+"/index.js"] {
			out = append(out, g.module(file, name))
		}
	}
	return out
}

// called reports whether the language itself calls methods of this name.
func called(name string) bool {
	switch name {
	case "then", "next", "return", "throw", "toJSON", "toString", "valueOf":
		return true
	}
	return false
}

// implied returns the names of the methods that the host calls for code that mentions a global or a property.
func implied(name string) []string {
	switch name {
	case "defineProperty", "defineProperties", "create":
		return []string{"get", "set", "value"}
	case "ReadableStream", "WritableStream", "TransformStream":
		return []string{"start", "pull", "cancel", "write", "close", "abort", "transform", "flush"}
	case "addEventListener":
		return []string{"handleEvent"}
	}
	return nil
}

// proxyTraps returns the names of the methods that a Proxy's handler may have.
func proxyTraps() []string {
	return []string{"get", "set", "has", "apply", "construct", "deleteProperty", "defineProperty", "ownKeys",
		"getOwnPropertyDescriptor", "getPrototypeOf", "setPrototypeOf", "isExtensible", "preventExtensions"}
}

// isBuiltIn reports whether a name is that of a global whose members are built in, unless the code replaces them.
func isBuiltIn(name string) bool {
	switch name {
	case "Object", "Array", "String", "Number", "BigInt", "Math", "JSON", "Promise", "Symbol", "Reflect", "Date", "Buffer",
		"console", "Error", "Intl", "RegExp", "Atomics", "performance", "process", "URL", "ArrayBuffer", "Uint8Array":
		return true
	}
	return false
}

// isIdentifier reports whether code may mention a property name with a dot. Other names are looked up by computed keys.
func isIdentifier(name string) bool {
	for i := range len(name) {
		switch c := name[i]; {
		case c == '$', c == '_', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= 0x80, c == '#' && i == 0:
		case c >= '0' && c <= '9' && i > 0:
		default:
			return false
		}
	}
	return name != ""
}

// isPresent reports whether a member of a built-in object exists in every engine, so that a replacement for it is never
// used.
func isPresent(object, member string) bool {
	switch object {
	case "Function.prototype":
		return member == "bind" || member == "call" || member == "apply"
	case "Object":
		switch member {
		case "assign", "create", "defineProperty", "entries", "freeze", "getOwnPropertyDescriptor", "getOwnPropertyNames",
			"getPrototypeOf", "is", "keys", "setPrototypeOf", "values":
			return true
		}
	case "Array":
		return member == "from" || member == "isArray" || member == "of"
	}
	return false
}
