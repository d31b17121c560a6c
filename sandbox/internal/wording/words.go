package wording

import (
	"cmp"
	"strings"

	"github.com/airlock-run/airlock/sandbox/internal/lazyregexp"
)

// thrown is an error of the engine.
type thrown struct {
	message string
	native  string
	borrow  bool
	caller  string
	code    string
	at      int
	key     string // of the property that is assigned to
	prior   string // see earlier
	read    int    // the bytes of prior that were read
}

// Place is where in the compiled text an error of the engine was thrown.
type Place struct {
	// Native is the native function that threw, if one did.
	Native string
	// Borrowed reports that it was called by its call or apply.
	Borrowed bool
	// Caller is the function in the first frame behind.
	Caller string
	// Code is the text around the position of that frame, and At the position in it, in bytes.
	Code string
	At   int
	// Prior is the text before the line of the position.
	Prior string
}

// Message returns the message that V8 gives an error, if the engine words it otherwise. work is the bytes that it read.
func Message(name, message string, p Place) (worded string, work int, ok bool) {
	t := thrown{message: message, native: p.Native, borrow: p.Borrowed, caller: p.Caller, code: p.Code, at: p.At,
		prior: p.Prior}
	t.toTarget()
	worded, ok = t.reword(name)
	return worded, len(t.code) + t.read, ok
}

// earlier returns the compiled text before the code. Few messages need it, and reading it is work.
func (t *thrown) earlier() string {
	t.read += len(t.prior)
	return t.prior
}

// same are messages that V8 words in one way, whatever the code.
var same = map[string]string{
	"Date value is NaN":                              "Invalid time value",
	"invalid array length":                           "Invalid array length",
	"invalid string length":                          "Invalid string length",
	"proxy: duplicate property":                      "'ownKeys' on proxy: trap returned duplicate entries",
	"proxy preventExtensions handler returned false": "'preventExtensions' on proxy: trap returned falsish",
	"proxy: inconsistent preventExtensions": "'preventExtensions' on proxy: trap returned truish but the proxy target " +
		"is extensible",
	"proxy: property not present in target were returned by non extensible proxy": "'ownKeys' on proxy: trap returned " +
		"extra keys but proxy target is non-extensible",
	"proxy: bad prototype": "'setPrototypeOf' on proxy: trap returned falsish for property 'undefined'",
	"'Immutable prototype object 'Object.prototype' cannot have their prototype set'": "Immutable prototype object " +
		"'Object.prototype' cannot have their prototype set",
	"empty array":                           "Reduce of empty array with no initial value",
	"this is not initialized":               mustCallSuper,
	"cannot convert symbol to string":       "Cannot convert a Symbol value to a string",
	"cannot convert symbol to number":       "Cannot convert a Symbol value to a number",
	"bigint argument with unary +":          "Cannot convert a BigInt value to a number",
	"BigInt operands are forbidden for >>>": "BigInts have no unsigned right shift, use >> instead",
	"BigInt division by zero":               "Division by zero",
	"BigInt negative exponent":              "undefined must be positive",
	"promise self resolution":               "Chaining cycle detected for promise #<Promise>",
	"invalid value used as WeakMap key":     "Invalid value used as weak map key",
	"invalid value used as WeakSet key":     "Invalid value used in weak set",
	"'this' can be initialized only once":   "Super constructor may only be called once",
	"circular prototype chain":              "Cyclic __proto__ value",
	"toPrimitive":                           "Cannot convert object to primitive value",
	"derived class constructor must return an object or undefined": "Derived constructors may only return object or " +
		"undefined",
	"not a Date object":              "this is not a Date object.",
	"radix must be between 2 and 36": "toString() radix argument must be between 2 and 36",
	"invalid property access": "'caller', 'callee', and 'arguments' properties may not be accessed on strict mode " +
		"functions or the arguments objects for calls to them",
	"out of bound":                                  "Offset is outside the bounds of the DataView",
	"BigInt are forbidden in JSON.stringify":        "Do not know how to serialize a BigInt",
	"bad normalization form":                        "The normalization form should be one of NFC, NFD, NFKC, NFKD.",
	"cannot invoke a running generator":             "Generator is already running",
	"not a TypedArray":                              "this is not a typed array.",
	"invalid unregister token":                      "Invalid unregisterToken",
	"operand 'prototype' property is not an object": "Function has non-object prototype 'undefined' in instanceof check",
}

const mustCallSuper = "Must call super constructor in derived class before accessing 'this' or returning from " +
	"derived constructor"

const comparator = "The comparison function must be either a function or undefined"

// natives maps the message, a space and the name of a native function to V8's message.
var natives = map[string]string{
	"invalid number of digits toFixed":         "toFixed() digits argument must be between 0 and 100",
	"invalid number of digits toPrecision":     "toPrecision() argument must be between 1 and 100",
	"invalid number of digits toExponential":   "toExponential() argument must be between 0 and 100",
	"not an object defineProperty":             "Object.defineProperty called on non-object",
	"not an object ownKeys":                    "Reflect.ownKeys called on non-object",
	"not an object Proxy":                      "Cannot create proxy with a non-object as target or handler",
	"must be called with new Promise":          "Promise constructor cannot be invoked without 'new'",
	"invalid array index ArrayBuffer":          "Invalid array buffer length",
	"not a object apply":                       "CreateListFromArrayLike called on non-object",
	"not a object construct":                   "CreateListFromArrayLike called on non-object",
	"ArrayBuffer object expected DataView":     "First argument to DataView constructor must be an ArrayBuffer",
	"not a constructor Symbol":                 "Symbol is not a constructor",
	"not a function sort":                      comparator,
	"not a function toSorted":                  comparator,
	"regexp must have the 'g' flag replaceAll": "String.prototype.replaceAll called with a non-global RegExp argument",
	"regexp must have the 'g' flag matchAll":   "String.prototype.matchAll called with a non-global RegExp argument",
	"invalid target WeakRef":                   "WeakRef: invalid target",
	"invalid target register":                  "FinalizationRegistry.prototype.register: invalid target",
	"held value cannot be the target register": "FinalizationRegistry.prototype.register: " +
		"target and holdings must not be same",
	"not a function FinalizationRegistry": "FinalizationRegistry: cleanup must be callable",
	"invalid descriptor flags freeze":     "Cannot freeze array buffer views with elements",
	"Invalid array length set":            "offset is out of bounds",
	"invalid array length set":            "offset is out of bounds",
	"invalid array index with":            "Invalid typed array index",
	"invalid typed array index with":      "Invalid typed array index",
	"not an object getPrototypeOf":        "Cannot convert undefined or null to object",
}

// patterns are what can be wrong with a regular expression.
var patterns = map[string]string{
	"expecting ')'":                                 "Unterminated group",
	"extraneous characters at the end":              "Unmatched ')'",
	"invalid class range":                           "Range out of order in character class",
	"nothing to repeat":                             "Nothing to repeat",
	"invalid group":                                 "Invalid group",
	"invalid group name":                            "Invalid capture group name",
	"duplicate group name":                          "Duplicate capture group name",
	"group name not defined":                        "Invalid named capture referenced",
	"invalid escape sequence in regular expression": "Invalid escape",
	"invalid repetition count":                      "numbers out of order in {} quantifier",
	"unexpected end":                                "\\ at end of pattern",
	"unknown unicode property name":                 "Invalid property name",
}

var (
	property = lazyregexp.New(`^cannot (read|set) property '((?s).*)' of (null|undefined)$`)
	private  = lazyregexp.New(`^private class field '(#.*)' does not exist$`)
	// literalPattern matches a literal of a regular expression, without brackets that are closed later.
	literalPattern = lazyregexp.New(`^/(?:[^/\\\n\[*]|\\.|` + inBrackets +
		`)(?:[^/\\\n\[]|\\.|` + inBrackets + `)*/[a-z]*`)
	set         = lazyregexp.New(`^[^\s;={}]*[.](#[\pL_$][\pL\pN_$]*)\s*=[^=>]`)
	readOnly    = lazyregexp.New(`^'(.*)' is read-only$`)
	uninitiated = lazyregexp.New(`^(.*) is not initialized$`)
	assigned    = lazyregexp.New(`^[^;=\n]*[.](#?[\pL_$][\pL\pN_$]*)\s*(?:[-+*/%&|^?<>]{0,3}=[^=>]|\+\+|--)`)
	deleted     = lazyregexp.New(`^(?:delete\s+)?[^;=\n]*?[.]([\pL_$][\pL\pN_$]*)\s*(?:[;\n})]|$)`)
	elements    = lazyregexp.New(`^[\pL_$][\pL\pN_$]*\(\s*(?:async\s*)?\(\s*\[`)
	inherits    = lazyregexp.New(`\bextends\s+`)
	entriesOf   = lazyregexp.New(`^for\s*\(\s*(?:const|let|var)\s*\[[^\]]*\]\s*of\s*\[`)
	ofArrays    = lazyregexp.New(`(?:\bArray\.prototype|\[\])\.` +
		`(?:concat|indexOf|filter|find\w*|forEach|map|reduce\w*|some|every)\.$`)
	iterates = lazyregexp.New(`^(?:(?:const|let|var)\s*\[[^=]*\]\s*=\s*|for\b[^;\n]*?\bof\s+)`)
)

// inBrackets matches a class of characters.
const inBrackets = `\[(?:[^\]\\\n]|\\.)*\]`

const notIterable = " is not iterable (cannot read property Symbol(Symbol.iterator))"

func (t *thrown) reword(name string) (string, bool) {
	if out, ok := natives[t.message+" "+t.native]; ok && t.native != "" {
		return out, true
	}
	if out, ok := same[t.message]; ok {
		return out, true
	}
	if m := private.FindStringSubmatch(t.message); m != nil {
		if a := set.FindStringSubmatch(t.code[t.at:]); a != nil && a[1] == m[1] {
			return "Cannot write private member " + m[1] + " to an object whose class did not declare it", true
		}
		return "Cannot read private member " + m[1] + " from an object whose class did not declare it", true
	}
	if out, ok := t.byValue(); ok {
		return out, true
	}
	if strings.HasPrefix(t.message, "too many arguments in function call") {
		return "Maximum call stack size exceeded", true
	}
	if name == "URIError" {
		return "URI malformed", true
	}
	if m := property.FindStringSubmatch(t.message); m != nil {
		switch {
		case m[1] == "set":
			return "Cannot set properties of " + m[3] + " (setting '" + m[2] + "')", true
		case m[2] == "Symbol.iterator":
			return t.notIterable(m[3])
		}
		if strings.HasPrefix(m[2], "Symbol.") {
			m[2] = "Symbol(" + m[2] + ")"
		}
		return "Cannot read properties of " + m[3] + " (reading '" + m[2] + "')", true
	}
	if name == "TypeError" && strings.HasPrefix(t.message, "'") &&
		strings.HasSuffix(t.message, "' is a reserved identifier") { // rewrite.Constant
		if strings.HasPrefix(t.message, "'#") {
			return t.ofPrivate(t.message[1 : len(t.message)-len("' is a reserved identifier")]), true
		}
		return "Assignment to constant variable.", true
	}
	if out, ok := t.ofProperty(); ok && name == "TypeError" {
		return out, true
	}
	if m := uninitiated.FindStringSubmatch(t.message); m != nil && name == "ReferenceError" {
		return "Cannot access '" + m[1] + "' before initialization", true
	}
	if m := readOnly.FindStringSubmatch(t.message); m != nil {
		return t.readOnly(m[1]), true
	}
	if reason, ok := patterns[t.message]; ok && t.native == "RegExp" {
		return t.pattern(reason), true
	}
	if reason, ok := patterns[t.message]; ok && name == "SyntaxError" && t.native == "" {
		if m := literalPattern.FindString(t.code[t.at:]); m != "" {
			return "Invalid regular expression: " + m + ": " + reason, true
		}
	}
	if t.message == "invalid regular expression flags" && t.native == "RegExp" {
		if flags := t.value(1); flags != "" && flags != "undefined" {
			return "Invalid flags supplied to RegExp constructor '" + flags + "'", true
		}
	}
	if out, ok := ofParser(t.message); ok && name == "SyntaxError" {
		return out, true
	}
	return t.byCode()
}

// ofPrivate words what cannot be done with a private method or accessor.
func (t *thrown) ofPrivate(name string) string {
	text := t.earlier() + t.code
	m := assigned.FindStringSubmatch(t.code[t.at:])
	switch {
	case strings.Contains(text, "get "+name+"(") && m != nil && m[1] == name:
		return "'" + name + "' was defined without a setter"
	case strings.Contains(text, "set "+name+"("):
		return "'" + name + "' was defined without a getter"
	}
	return "Private method '" + name + "' is not writable"
}

// byCode returns the messages that depend on the code.
func (t *thrown) byCode() (string, bool) {
	switch t.message {
	case "not a function":
		return t.notFunction()
	case "not a constructor":
		expr := strings.TrimSuffix(t.forward(t.at), "(...)")
		return cmp.Or(expr, "(intermediate value)") + " is not a constructor", true
	case "value is not iterable":
		return t.notIterable("object")
	case "must be called with new":
		return "Constructor " + t.native + " requires 'new'", t.native != ""
	case "invalid 'instanceof' right operand":
		if primitive.MatchString(strings.TrimLeft(t.code[t.at:], " ")) {
			return "Right-hand side of 'instanceof' is not an object", true
		}
		return "Right-hand side of 'instanceof' is not callable", true
	case "invalid brand on object":
		class := t.class(t.at)
		return "Receiver must be an instance of class " + class, class != ""
	case "class constructors must be invoked with 'new'":
		return "Class constructor " + t.caller + " cannot be invoked without 'new'", t.caller != ""
	case "cannot convert BigInt to number":
		if t.native != "" {
			return "Cannot convert a BigInt value to a number", true
		}
		return "Cannot mix BigInt and other types, use explicit conversions", true
	case "parent class must be constructor":
		if at := inherits.FindStringIndex(t.code[t.at:]); at != nil {
			expr := t.forward(t.at + at[1])
			if expr != "null" && !primitive.MatchString(expr) { // a name: V8 prints its value
				expr = "undefined"
			}
			return "Class extends value " + expr + " is not a constructor or null", expr != ""
		}
	case "object is not extensible":
		if strings.HasSuffix(t.native, "etPrototypeOf") || strings.Contains(t.code[t.at:], "__proto__") {
			return "#<Object> is not extensible", true
		}
		if t.native == "push" || t.native == "unshift" {
			return t.ofArray()
		}
		if m := assigned.FindStringSubmatch(t.code[t.at:]); m != nil && t.native == "" {
			return "Cannot add property " + m[1] + ", object is not extensible", true
		}
	case "no setter for property":
		if m := assigned.FindStringSubmatch(t.code[t.at:]); m != nil && t.native == "" {
			return "Cannot set property " + m[1] + " of #<" + t.classReading(m[0], m[1]) +
				"> which has only a getter", true
		}
		return "Cannot set property " + t.key + " of #<Object> which has only a getter", t.key != ""
	case "could not delete property":
		if t.native == "pop" {
			return t.ofArray()
		}
		if m := deleted.FindStringSubmatch(t.code[t.at:]); m != nil && t.native == "" {
			return "Cannot delete property '" + m[1] + "' of #<Object>", true
		}
	case "invalid 'in' operand":
		return t.within()
	case "invalid BigInt literal":
		value := strings.Replace(t.value(0), "#<Object>", "[object Object]", 1)
		return "Cannot convert " + value + " to a BigInt", value != ""
	case "invalid array index":
		switch from := t.value(1); {
		case t.native == "asIntN" || t.native == "asUintN":
			return "Invalid value: not (convertible to) a safe integer", true
		case strings.HasPrefix(t.native, "get") || strings.HasPrefix(t.native, "set"):
			return "Offset is outside the bounds of the DataView", true
		case t.native == "DataView" || strings.HasSuffix(t.native, "Array"):
			return "Start offset " + from + " is outside the bounds of the buffer", from != ""
		}
	case "cannot convert to BigInt":
		return "Cannot convert " + cmp.Or(t.value(0), "undefined") + " to a BigInt", t.native == "BigInt"
	case "cannot convert to BigInt: not an integer":
		return "The number cannot be converted to a BigInt because it is not an integer", true
	case "Cannot convert undefined or null to object":
		if t.borrow && ofArrays.MatchString(t.code[:t.at]) {
			return "Array.prototype." + t.native + " called on null or undefined", true
		}
		return t.destructuring("undefined")
	case "annot convert undefined or null to object": // as the rewritten engine says of null
		if out, ok := t.destructuring("null"); ok {
			return out, ok
		}
		if t.borrow && ofArrays.MatchString(t.code[:t.at]) {
			return "Array.prototype." + t.native + " called on null or undefined", true
		}
		return "Cannot convert undefined or null to object", true
	}
	return "", false
}

// readOnly returns the message of an assignment to a constant or to a read-only property.
func (t *thrown) readOnly(name string) string {
	if strings.HasPrefix(name, "#") {
		return t.ofPrivate(name)
	}
	if name == "undefined" || name == "NaN" || name == "Infinity" {
		return "Cannot assign to read only property '" + name + "' of object '#<Object>'"
	}
	rest, ok := strings.CutPrefix(t.code[t.at:], name)
	member := t.at > 0 && t.code[t.at-1] == '.'
	rest = strings.TrimLeft(rest, " \t\n")
	if ok && !member && rest != "" && rest[0] != '.' && rest[0] != '[' && rest[0] != '(' {
		return "Assignment to constant variable."
	}
	if m := assigned.FindStringSubmatch(t.code[t.at:]); m == nil && t.native == "" && !member &&
		strings.Contains(t.code[t.at:], name) && !strings.ContainsAny(t.code[t.at:], "[.") {
		return "Assignment to constant variable."
	}
	if t.native == "" && !assigned.MatchString(t.code[t.at:]) && strings.Contains(t.code[:t.at], "const "+name+" =") {
		return "Assignment to constant variable." // a build whose message is the same, behind the assignment
	}
	object := "#<Object>"
	if t.native == "" {
		if text := t.functionSet(); text != "" {
			return "Cannot assign to read only property '" + name + "' of function '" + text + "'"
		}
		object = "#<" + t.classOf(t.code[t.at:]) + ">"
	}
	if name == "length" || isIndex(name) {
		if out, ok := t.ofPrimitive(); ok && t.native == "" && strings.Contains(out, " of string ") {
			return out
		}
		object = "[object Array]"
	}
	return "Cannot assign to read only property '" + name + "' of object '" + object + "'"
}

func (t *thrown) notFunction() (string, bool) {
	if t.native == "Promise" {
		return "Promise resolver " + cmp.Or(t.value(0), "undefined") + " is not a function", true
	}
	if strings.HasSuffix(strings.TrimRight(t.code[:t.at], " "), "new") {
		expr := strings.TrimSuffix(t.forward(t.at), "(...)")
		return expr + " is not a constructor", expr != ""
	}
	if t.native == "" {
		expr := t.backward()
		if expr == "__knownSymbol" { // in the code that replaces for await
			return "object is not async iterable", true
		}
		return expr + " is not a function", expr != ""
	}
	// A native function was given something to call that is not a function.
	at, ok := t.argument()
	if !ok {
		return "", false
	}
	expr := cmp.Or(t.value(0), t.forward(at))
	switch {
	case t.native == "flatMap":
		return "flatMap mapper function is not callable", true
	case t.native == "from":
		expr = t.value(1)
	case t.value(0) == "" && !strings.HasSuffix(expr, ")"): // most likely a variable that is not set, or no member
		expr = "undefined"
	}
	return expr + " is not a function", expr != ""
}

// notIterable returns the message of an iteration over a value that is not iterable; kind is what is known of the
// value.
func (t *thrown) notIterable(kind string) (string, bool) {
	if t.native == "fromEntries" && kind != "object" {
		return kind + " is not iterable", true
	}
	if t.native != "" || elements.MatchString(t.code[t.at:]) {
		return t.kind(kind) + notIterable, true
	}
	at := t.at
	if m := iterates.FindStringIndex(t.code[at:]); m != nil {
		at += m[1]
	}
	expr, end := t.forward(at), at
	for end < len(t.code) && IsName(t.code[end]) {
		end++
	}
	called := end > at && end < len(t.code) && t.code[end] == '('
	switch {
	case called && kind != "object" && t.spread(end+1) != "":
		return t.spread(end+1) + " is not iterable (cannot read property " + kind + ")", true
	case called && t.spread(end+1) != "":
		return "Spread syntax requires ...iterable[Symbol.iterator] to be a function", true
	case called:
		if at == t.at {
			expr = t.backward()
		}
		expr = strings.TrimSuffix(expr, "(...)")
		return expr + " is not a function or its return value is not iterable", expr != ""
	case strings.HasSuffix(expr, "Symbol.iterator"): // read by name
		return "Cannot read properties of " + kind + " (reading 'Symbol(Symbol.iterator)')", true
	case expr == "" && entriesOf.MatchString(t.code[t.at:]):
		return ".for is not iterable", true
	case expr == "" || expr == "function" || expr == "async":
		return kind + notIterable, true
	case expr == "undefined" || expr == "void" || expr == "null": // the bundler writes undefined as void 0
		return kind + " is not iterable", true
	}
	return expr + " is not iterable", true
}

// kind returns what is not iterable, as V8 says it, if kind is what the engine says.
func (t *thrown) kind(kind string) string {
	switch {
	case kind == "null":
		return "object null"
	case kind == "object" && t.native != "":
		return kindOf(t.value(0))
	}
	return kind
}

// within returns the message of an in operator whose right operand, at the position, is no object.
func (t *thrown) within() (string, bool) {
	left, ok := strings.CutSuffix(strings.TrimRight(t.code[:t.at], " \n\t"), " in")
	_, name := Before(strings.TrimRight(left, " \n\t"))
	right := t.literal(t.at)
	if right == "" {
		right = t.forward(t.at)
	}
	return "Cannot use 'in' operator to search for '" + strings.Trim(name, `"`) + "' in " + right,
		ok && name != "" && right != ""
}
