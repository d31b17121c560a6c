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
)

const (
	maxAlternatives = 6
	maxFoldedBytes  = 4096
	maxElements     = 4096
)

// kind says what the analyser knows of a value. Nothing known is a nil *value.
type kind uint8

// value is one possible value of an expression; alt links to another that it may have as well. Values are immutable.
type value struct {
	kind kind
	// decoded marks text that came out of a decoder or out of character codes, coded what came out of base64 or the like.
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

// object holds what is known of an object's or array's members. Members are only ever added.
type object struct {
	props map[string]*value
	elems []*value
	// rest stands for members that are not known, from a spread.
	rest *value
}

// function is a function of the code: what its parameters may be and what it may return.
type function struct {
	params js.Params
	ret    *value
	// called marks a function that was called, perhaps before what it returns was known.
	called bool
	// plain marks functions whose this is whatever they are called on.
	plain bool
	// id numbers functions in the order they were met, for the timer graph.
	id int
}

func textValue(s string) *value { return &value{kind: kindText, text: s} }

func symbolValue(s *catalogue.Symbol) *value {
	if s == nil {
		return nil
	}
	return &value{kind: kindSymbol, sym: s}
}

// same reports whether two values (alternatives apart) say the same.
func (v *value) same(o *value) bool {
	return v.kind == o.kind && v.text == o.text && v.num == o.num && v.sym == o.sym && v.obj == o.obj && v.fn == o.fn &&
		v.decoded == o.decoded && v.coded == o.coded && sameReceiver(v.of, o.of)
}

// sameReceiver compares receivers only so far as they were made of the same thing: each walk makes new ones.
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

// powerful reports whether following the value matters: it can lead to a finding by itself.
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

// dangerous reports whether the value is worth following through members of objects that nothing else is known of.
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
