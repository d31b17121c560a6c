package flow

import (
	"github.com/tdewolff/parse/v2/js"

	"github.com/airlock-run/airlock/policy/scan/internal/catalogue"
)

const (
	kindText        kind = iota + 1 // a constant string
	kindNumber                      // a constant number
	kindGlobal                      // the global object
	kindMaybeGlobal                 // this in a plain function: the global object, or whatever it was called on
	kindSymbol                      // something the catalogue names
	kindObject                      // an object literal, a class's instance, or this inside them
	kindArray                       // an array literal
	kindRegExp
	kindFunction    // a function of the code itself
	kindBuiltin     // some built-in function
	kindPrototype   // a built-in prototype, or one reached through an instance
	kindConstructor // the constructor of something that is not known to be a function
	kindMethod      // text names it, of is the receiver
	kindDescriptor  // a property descriptor of the value of
	kindBuilt       // what calling a kindConstructor with a string gave
	kindDecoded     // an unknown string that came out of a decoder
	kindBytes       // a Buffer made of the text of
	kindPercent     // unknown text that was just percent-encoded
	kindPartial     // unknown text of which text is a part
)

const (
	maxAlternatives = 6
	maxFoldedBytes  = 4096
	maxElements     = 4096
)

// kind is the kind of a value. A nil *value is an unknown value.
type kind uint8

// value is one possible value of an expression. alt links to another possible value. Values are immutable.
type value struct {
	kind kind
	// decoded marks text that came out of a decoder or of character codes, coded text that came out of base64 or the like.
	decoded bool
	coded   bool
	num     float64
	text    string
	sym     *catalogue.Symbol
	obj     *object
	fn      *function
	of      *value
	alt     *value
}

// object holds the known members of an object or array. Members are only ever added.
type object struct {
	props map[string]*value
	elems []*value
	// rest stands for the unknown members that a spread added.
	rest *value
}

// function is a function of the code: the values of its parameters and of its result.
type function struct {
	params js.Params
	ret    *value
	// base is what a class with a constructor of its own extends, if that builds code from strings.
	base *value
	// called marks a function that was called, perhaps before its result was known.
	called bool
	// plain marks functions whose this is their receiver.
	plain bool
	// interop marks a helper that compilers put around require.
	interop bool
	// props are the members that the code gives the function.
	props map[string]*value
	// loader returns what the function, in which a bundler put a CommonJS module, exports; nil if that is of no interest.
	loader *function
	// node is the function in the tree.
	node any
	// id numbers functions in the order of the walk, for the graph of timers.
	id int
}

// set sets a member of a function.
func (f *function) set(name string, member *value) {
	if f.props == nil {
		f.props = map[string]*value{}
	}
	f.props[name] = member
}

func textValue(s string) *value { return &value{kind: kindText, text: s} }

func symbolValue(s *catalogue.Symbol) *value {
	if s == nil {
		return nil
	}
	return &value{kind: kindSymbol, sym: s}
}

// same reports whether two values are equal, alternatives aside.
func (v *value) same(o *value) bool {
	return v.kind == o.kind && v.text == o.text && v.num == o.num && v.sym == o.sym && v.obj == o.obj && v.fn == o.fn &&
		v.decoded == o.decoded && v.coded == o.coded && sameReceiver(v.of, o.of)
}

// sameReceiver reports whether two receivers are of the same kind and origin. Each walk makes new ones.
func sameReceiver(a, b *value) bool {
	return a == b || a != nil && b != nil && a.kind == b.kind && a.text == b.text && a.sym == b.sym && a.fn == b.fn
}

func (v *value) holds(o *value) bool {
	for ; v != nil; v = v.alt {
		if v.same(o) {
			return true
		}
	}
	return false
}

// powerful reports whether the value can lead to a finding by itself.
func (v *value) powerful() bool {
	for ; v != nil; v = v.alt {
		switch v.kind {
		case kindGlobal, kindMaybeGlobal, kindSymbol, kindBuiltin, kindPrototype, kindConstructor, kindMethod, kindDescriptor,
			kindBuilt, kindDecoded, kindBytes:
			return true
		}
	}
	return false
}

// isGlobal reports whether the value may be the global object.
func (v *value) isGlobal() bool {
	for ; v != nil; v = v.alt {
		if v.kind == kindGlobal {
			return true
		}
	}
	return false
}

// dangerous reports whether the value is worth following through members of unknown objects.
func (v *value) dangerous() bool {
	for ; v != nil; v = v.alt {
		switch {
		case v.kind == kindGlobal, v.kind == kindBytes:
			return true
		case v.kind == kindSymbol && (v.sym.Category != "" || v.sym.Module != "" || v.sym.Role == catalogue.RoleRequire ||
			v.sym.Role == catalogue.RoleTimeout || v.sym.Role == catalogue.RoleInterval):
			return true
		}
	}
	return false
}

// isDecoded reports whether any part of the value came out of a decoder.
func (v *value) isDecoded() bool {
	for ; v != nil; v = v.alt {
		if v.decoded || v.kind == kindDecoded {
			return true
		}
	}
	return false
}

// callableKind reports whether the value is a function of any sort, so that its constructor is Function.
func (v *value) callableKind() bool {
	switch v.kind {
	case kindFunction, kindBuiltin:
		return true
	case kindMethod:
		return v.of != nil && v.of.kind != kindObject
	case kindSymbol:
		return v.sym.IsFunction()
	}
	return false
}

// isCoded reports whether any part of the value came out of base64 or the like.
func (v *value) isCoded() bool {
	for ; v != nil; v = v.alt {
		if v.coded {
			return true
		}
	}
	return false
}
