package source

import (
	"strings"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"
)

// A step of a session is a script whose declarations outlive it. They stay what they are, variables of the function
// around the script, and its first statement tells the library how to read and write each of them. The library defines
// a global for each name, which later steps meet. So a constant stays constant, closures and later steps share one
// variable, and the step itself is as fast as any script. Code that only the engine can parse leaves no declarations.

// sessionHead has the parameters of the function around a step. start.js passes the last one.
const sessionHead = "(async ($airlock, $airlock_m, $airlock_e, $airlock_p, $airlock_keep) => {"

// isStep reports whether the declarations of the code outlive it.
func (s *Source) isStep() bool { return strings.HasPrefix(s.head, sessionHead) }

// keepNames makes the declarations of a step outlive it. list are its statements.
func (s *Source) keepNames(list []js.IStmt, scope *js.Scope) {
	fixed := map[string]bool{}
	var names []string
	add := func(name string) {
		if !strings.HasPrefix(name, "$airlock") {
			names = append(names, name)
		}
	}
	for _, text := range s.imports {
		for _, name := range importedNames(text) {
			fixed[name] = true
			add(name)
		}
	}
	for _, statement := range list {
		if d, ok := statement.(*js.VarDecl); ok && d.TokenType == js.ConstToken {
			for _, e := range d.List {
				bound(e.Binding, func(name string) { fixed[name] = true })
			}
		}
	}
	for _, v := range scope.Declared {
		switch v.Decl {
		case js.VariableDecl, js.FunctionDecl, js.LexicalDecl:
			add(string(v.Data))
		}
	}
	if len(list) > 0 {
		if d, ok := list[0].(*js.DirectivePrologueStmt); ok {
			s.head += string(d.Value) + ";"
		}
	}
	if len(names) == 0 {
		return
	}
	s.head += "$airlock_keep({__proto__:null"
	for _, name := range names {
		s.head += "," + quoted(name) + ":[()=>" + name
		if !fixed[name] {
			s.head += ",($airlock)=>{" + name + "=$airlock}"
		}
		s.head += "]"
	}
	s.head += "});"
}

// bound calls f with each name that a pattern binds.
func bound(b js.IBinding, f func(name string)) {
	switch b := b.(type) {
	case *js.Var:
		f(string(b.Data))
	case *js.BindingArray:
		for _, e := range b.List {
			bound(e.Binding, f)
		}
		bound(b.Rest, f)
	case *js.BindingObject:
		for _, e := range b.List {
			bound(e.Value.Binding, f)
		}
		if b.Rest != nil {
			f(string(b.Rest.Data))
		}
	}
}

// importedNames returns the names that an import declaration binds.
func importedNames(text string) (names []string) {
	ast, err := js.Parse(parse.NewInputString(text), js.Options{})
	if err != nil {
		return nil
	}
	for _, statement := range ast.List {
		d, ok := statement.(*js.ImportStmt)
		if !ok {
			continue
		}
		if d.Default != nil {
			names = append(names, string(d.Default))
		}
		for _, a := range d.List {
			switch {
			case a.Binding != nil:
				names = append(names, string(a.Binding))
			case a.Name != nil:
				names = append(names, string(a.Name))
			}
		}
	}
	return names
}
