package wording

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/airlock-run/airlock/sandbox/internal/lazyregexp"
)

// The engine's messages have no values. V8's have some, and here they come from the code where it shows them: a literal
// argument, the class of this or of a variable.

var (
	primitive = lazyregexp.New(`^(?:[-+]?[0-9][\w.]*|(?:undefined|void 0|null|true|false|NaN|-?Infinity)\b|["'` + "`" +
		`])`)
	number   = lazyregexp.New(`^-?(?:[0-9][0-9_]*(?:\.[0-9]+)?|Infinity\b|NaN\b)`)
	element  = lazyregexp.New(`^\s*\[\s*`)
	assigns  = lazyregexp.New(`^(?:[-+/%^]|\*{1,2}|<<|>{2,3}|&{1,2}|\|{1,2}|\?\?)?=(?:[^=>]|$)`)
	written  = lazyregexp.New(`^#?[\pL_$][\pL\pN_$]*`)
	onMember = lazyregexp.New(`^([^;=\n]*?)(?:\.([\pL_$][\pL\pN_$]*)|\[(?:["']([^"'\\]*)["']|([0-9]+))\])\s*` +
		`(?:[-+*/%&|^?<>]{0,3}=[^=>]|\+\+|--)`)
	deletes    = lazyregexp.New(`\bdelete\s+([\pL_$][\pL\pN_$]*)\s*(?:\.|\[)[^;\n]*$`)
	ofProperty = lazyregexp.New(`^(?:(cannot define variable|redeclaration of) '((?s).*)'|` +
		`((?s).*) is not initialized)$`)
	listed    = lazyregexp.New(`^\s*=\s*(?:Object\.\w+\()?\[([^\[\]{}()"'` + "`" + `]*)\]`)
	onBytes   = lazyregexp.New(`^[gs]et(?:Big)?(?:Int|Uint|Float)[0-9]+$`)
	forbidden = lazyregexp.New(`^null or undefined are forbidden$|^cannot convert to object$`)
)

// holds matches what a variable or a property is set to, if that is a literal of a primitive.
var holds = lazyregexp.New(`^\s*[=:]\s*("[^"\\\n]*"|'[^'\\\n]*'|` + "`[^`$\\\\]*`" +
	`|true\b|false\b|null\b|undefined\b|void 0\b|-?[0-9][0-9.]*)\s*(?:[,;})\n]|$)`)

// holdsObject matches a literal of an object that a variable is set to.
var holdsObject = lazyregexp.New(`^\s*=\s*\{`)

// setsOrTakes matches what is behind a name that is set, or is a parameter or a part of a pattern.
var setsOrTakes = lazyregexp.New(`^(?:\s*(?:(?:[-+/%^&|?]{1,2}|\*{1,2}|<<|>{2,3})?=(?:[^=]|$)|\+\+|--|:|[\]}]|` +
	`(?:of|in)\b)|[^(){};]*\)\s*(?:=>|\{))`)

// elementBytes are the sizes of typed arrays' elements.
var elementBytes = map[string]int{"Int16Array": 2, "Uint16Array": 2, "Float16Array": 2, "Int32Array": 4,
	"Uint32Array":  4,
	"Float32Array": 4, "Float64Array": 8, "BigInt64Array": 8, "BigUint64Array": 8}

// boxes are the classes whose methods refuse another this, by what the engine says.
var boxes = map[string]string{"not a number": "Number", "not a BigInt": "BigInt", "not a symbol": "Symbol",
	"not a boolean": "Boolean", "not a string": "String"}

// iterating are the functions that iterate over their argument and need entries.
var iterating = map[string]bool{"Map": true, "WeakMap": true, "fromEntries": true}

// value returns an argument of the call at the position as V8 prints it: "" if the code does not show its value.
func (t *thrown) value(n int) string {
	at, ok := t.argument()
	for ; ok && n > 0; n-- {
		end := t.argumentEnd(at)
		if end >= len(t.code) || t.code[end] == ')' {
			return "undefined"
		}
		at = end + 1
	}
	if !ok {
		return ""
	}
	return t.valueAt(at)
}

// argumentEnd returns where the argument at an offset of the code ends: at a comma or a closing bracket.
func (t *thrown) argumentEnd(at int) int {
	depth := 0
	for ; at < len(t.code); at++ {
		switch c := t.code[at]; c {
		case '(', '[', '{':
			depth++
		case ')', ']', '}', ',':
			if depth == 0 {
				return at
			}
			if c != ',' {
				depth--
			}
		case '"', '\'', '`':
			n := strings.IndexByte(t.code[at+1:], c)
			if n < 0 {
				return len(t.code)
			}
			at += n + 1
		}
	}
	return at
}

// spread returns the first of the arguments at an offset of the code that is spread.
func (t *thrown) spread(at int) string {
	for at < len(t.code) {
		end := t.argumentEnd(at)
		if text, ok := strings.CutPrefix(strings.TrimSpace(t.code[at:end]), "..."); ok {
			return strings.Replace(text, "void 0", "undefined", 1)
		}
		if end >= len(t.code) || t.code[end] != ',' {
			return ""
		}
		at = end + 1
	}
	return ""
}

// valueAt returns the literal at an offset of the code as V8 prints it, if the literal is all that stands there.
func (t *thrown) valueAt(at int) string {
	text := strings.TrimSpace(t.code[at:t.argumentEnd(at)])
	if number.FindString(text) == text && text != "" {
		return strings.ReplaceAll(text, "_", "")
	}
	switch text {
	case "undefined", "null", "true", "false":
		return text
	case "", "void 0":
		return "undefined"
	}
	switch text[0] {
	case '{':
		return "#<Object>"
	case '[':
		if strings.HasSuffix(text, "]") {
			return "[object Array]"
		}
	case '"', '\'', '`':
		if value, end := unquote(text); end == len(text) {
			return value
		}
	}
	if literal := t.literalOf(text); literal != "" && literal[0] != '{' {
		of := thrown{code: literal}
		return of.valueAt(0)
	} else if literal != "" {
		return "#<Object>"
	}
	return ""
}

// kindOf returns the type of a printed value and the value itself: V8 names both if the value is not iterable.
func kindOf(value string) string {
	switch {
	case value == "true" || value == "false":
		return "boolean " + value
	case number.FindString(value) != "":
		return "number " + value
	case value == "undefined":
		return value
	case value == "null":
		return "object null"
	}
	return "object"
}

// byValue returns the messages in which V8 prints a value.
func (t *thrown) byValue() (string, bool) {
	first := t.value(0)
	with := func(message, separator string) (string, bool) {
		if first == "" {
			return message, true
		}
		return message + separator + first, true
	}
	with2 := func(message string) (string, bool) {
		if second := t.value(2); second != "" && t.native == "defineProperty" {
			return message + ": " + second, true
		}
		return message, true
	}
	switch t.message {
	case "invalid repeat count":
		return with("Invalid count value", ": ")
	case "invalid code point":
		return with("Invalid code point", " ")
	case "invalid array index", "invalid array buffer length":
		if strings.HasSuffix(t.native, "Array") {
			return with("Invalid typed array length", ": ")
		}
	case "cannot convert to BigInt: not an integer", "cannot convert NaN or Infinity to BigInt":
		return "The number " + withSpace(first) + "cannot be converted to a BigInt because it is not an integer", true
	case "cannot convert to BigInt":
		return "Cannot convert " + first + " to a BigInt", first != ""
	case "Property description must be an object":
		return with2("Property description must be an object")
	case "object prototype may only be an Object or null", "not an object":
		if t.native == "" {
			return t.ofPrimitive()
		}
		return t.notObject(first)
	case "property is not configurable":
		second := t.value(1)
		return "Cannot redefine property: " + second, t.native == "defineProperty" && second != ""
	case "regexp not supported":
		return "First argument to String.prototype." + t.native + " must not be a regular expression", true
	case "revoked proxy":
		return "Cannot perform '" + t.trap() + "' on a proxy that has been revoked", true
	case "proxy: cannot set property":
		return "'set' on proxy: trap returned falsish for property '" + t.key + "'", t.key != ""
	case "proxy: defineProperty exception":
		return "'defineProperty' on proxy: trap returned falsish for property '" + t.value(1) + "'", t.value(1) != ""
	}
	return t.ofReceiver()
}

// withSpace returns a value and a space, or "" for a value that is not known.
func withSpace(value string) string {
	if value == "" {
		return ""
	}
	return value + " "
}

func group(m []string) string {
	if len(m) < 2 {
		return ""
	}
	return m[1]
}

// notObject words messages of functions that need an object.
func (t *thrown) notObject(first string) (string, bool) {
	switch {
	case t.native == "create", t.native == "setPrototypeOf" && t.message == "not an object":
		value := first
		if t.native == "setPrototypeOf" {
			value = t.value(1)
		}
		if strings.HasPrefix(value, "#<") || strings.HasPrefix(value, "[object") {
			return "Object.setPrototypeOf called on null or undefined", true
		}
		return "Object prototype may only be an Object or null: " + value, value != ""
	case iterating[t.native]:
		at, ok := t.argument()
		if m := element.FindString(t.code[at:]); ok && m != "" {
			if value := t.valueAt(at + len(m)); value != "" && value != "[object Array]" {
				return "Iterator value " + value + " is not an entry object", true
			}
		}
		return "Iterator value is not an entry object", true
	}
	return "", false
}

// ofPrimitive words an assignment to a property of a string, a number or a boolean that the code shows.
func (t *thrown) ofPrimitive() (string, bool) {
	m := onMember.FindStringSubmatch(t.code[t.at:])
	if m == nil {
		return "", false
	}
	key, literal := m[2]+m[3]+m[4], strings.Trim(m[1], "()")
	if !primitive.MatchString(literal) {
		literal = t.literalOf(literal[strings.LastIndexByte(literal, '.')+1:])
	}
	value, kind := literal, "number"
	switch {
	case literal == "" || literal[0] == '{':
		return "", false
	case literal == "true" || literal == "false":
		kind = "boolean"
	case strings.ContainsRune("\"'`", rune(literal[0])):
		kind = "string"
		var end int
		if value, end = unquote(literal); end != len(literal) {
			return "", false
		}
		if at, err := strconv.Atoi(key); key == "length" || err == nil && at >= 0 && at < len(value) {
			return "Cannot assign to read only property '" + key + "' of string '" + value + "'", true
		}
	case number.FindString(literal) != literal:
		return "", false
	}
	return "Cannot create property '" + key + "' on " + kind + " '" + value + "'", true
}

// literalOf returns the literal that the code sets a variable or a property to, and nothing if it may hold another
// value: if the name is set to anything else, too, or is that of a parameter.
func (t *thrown) literalOf(name string) string {
	if name == "" || written.FindString(name) != name {
		return ""
	}
	text, found := t.earlier()+t.code, ""
	for at := 0; ; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return found
		}
		begins := at+i == 0 || !IsName(text[at+i-1])
		at += i + len(name)
		if !begins || IsName((text[at:] + " ")[0]) {
			continue
		}
		near := text[at:min(at+maxExpression, len(text))] // what is behind a name may be all of the code
		if given := holds.FindStringSubmatch(near); given != nil {
			if found != "" && found != given[1] {
				return ""
			}
			found = given[1]
		} else if holdsObject.MatchString(near) && (found == "" || found == "{") {
			found = "{"
		} else if setsOrTakes.MatchString(near) {
			return ""
		}
	}
}

// ofMethod words a method that was called on another this.
func (t *thrown) ofMethod() (string, bool) {
	class, ok := strings.CutSuffix(t.message, " object expected")
	if t.message == "not a generator" {
		class, ok = "[Generator]", true
	}
	if !ok || t.native == "" || t.native == class || t.native == "DataView" {
		return "", false
	}
	method := class + ".prototype." + t.native
	if property, ok := strings.CutPrefix(t.native, "get "); ok {
		method = "get " + class + ".prototype." + property
	}
	return "Method " + method + " called on incompatible receiver " + t.receiver("#<"+class+">"), true
}

// receiver returns the value that a native function was called on: other if it was called as a member.
func (t *thrown) receiver(other string) string {
	switch {
	case t.borrow:
		return cmp.Or(t.value(0), "#<Object>")
	case t.at > 0 && t.code[t.at-1] == '.' || strings.HasPrefix(t.native, "get "):
		return other
	}
	return "undefined"
}

// ofReceiver words messages of methods that were called on another this, and of views of memory.
func (t *thrown) ofReceiver() (string, bool) {
	if out, ok := t.ofMethod(); ok {
		return out, ok
	}
	if class, ok := boxes[t.message]; ok && t.native != "" {
		return class + ".prototype." + strings.TrimPrefix(t.native, "get ") + " requires that 'this' be a " + class, true
	}
	if forbidden.MatchString(t.message) && t.native != "" {
		return "String.prototype." + t.native + " called on null or undefined", true
	}
	if index, ok := strings.CutPrefix(t.message, "invalid array index: "); ok && t.native == "with" {
		return "Invalid index : " + index, true
	}
	size, ok := elementBytes[t.native]
	switch {
	case ok && t.message == "invalid length":
		return "byte length of " + t.native + " should be a multiple of " + strconv.Itoa(size), true
	case ok && t.message == "invalid offset":
		return "start offset of " + t.native + " should be a multiple of " + strconv.Itoa(size), true
	case t.message == "invalid array index" && onBytes.MatchString(t.native):
		return "Offset is outside the bounds of the DataView", true
	case t.native == "DataView" && t.message == "invalid byteLength":
		return "Invalid DataView length " + t.value(2), true
	case t.native == "DataView" && t.message == "invalid byteOffset", t.message == "invalid offset":
		second := t.value(1)
		return "Start offset " + second + " is outside the bounds of the buffer", second != "" && second != "undefined"
	}
	return "", false
}

// ofArray words a change of a frozen array that the code around shows with its elements.
func (t *thrown) ofArray() (string, bool) {
	name, ok := strings.CutSuffix(t.code[:t.at], ".")
	_, name = Before(name)
	text := t.earlier() + t.code[:t.at]
	at := strings.LastIndex(text, " "+name+" =")
	if !ok || name == "" || at < 0 {
		return "", false
	}
	m := listed.FindStringSubmatch(text[at+1+len(name):])
	if m == nil {
		return "", false
	}
	n := 0
	if strings.TrimSpace(m[1]) != "" {
		n = strings.Count(m[1], ",") + 1
	}
	if t.native == "pop" {
		return "Cannot delete property '" + strconv.Itoa(n-1) + "' of [object Array]", n > 0
	}
	return "Cannot add property " + strconv.Itoa(n) + ", object is not extensible", true
}

// trap returns the name of the trap that the code at the position would call.
func (t *thrown) trap() string {
	code := t.code[t.at:]
	switch {
	case t.key != "":
		return "set"
	case strings.HasPrefix(code, "delete "):
		return "deleteProperty"
	case t.native == "keys" || t.native == "ownKeys" || t.native == "getOwnPropertyNames":
		return "ownKeys"
	case t.native == "getPrototypeOf" || t.native == "defineProperty" || t.native == "has":
		return t.native
	}
	return "get"
}

// toTarget moves the position from the operator of an assignment, or from the member in front of it, to what is
// assigned to.
func (t *thrown) toTarget() {
	if t.native != "" {
		return
	}
	end := min(t.at, len(t.code))
	if m := written.FindString(t.code[end:]); m != "" && strings.HasSuffix(t.code[:end], ".") {
		end += len(m)
	}
	rest := t.code[end:]
	if end > t.at {
		rest = strings.TrimLeft(rest, " \t\n")
	}
	if !assigns.MatchString(rest) {
		return
	}
	for at := len(strings.TrimRight(t.code[:end], " \t\n")); ; {
		from, text := Before(t.code[:at])
		if text == "" {
			return
		}
		if t.key == "" && text[0] != '[' && text[0] != '(' {
			t.key = strings.TrimPrefix(text, ".")
		}
		rest := strings.TrimRight(t.code[:from], " \t\n")
		switch {
		case strings.HasSuffix(rest, ".") && !strings.HasSuffix(rest, ".."):
			at = len(strings.TrimRight(rest[:len(rest)-1], " \t\n"))
		case (text[0] == '[' || text[0] == '.' || text == "(...)") && from > 0 &&
			(IsName(t.code[from-1]) || t.code[from-1] == ')' || t.code[from-1] == ']'):
			at = from
		default:
			t.at = from
			return
		}
	}
}

// ofProperty words errors whose message names the property only, as the rewritten engine makes them (rewrite.Keyed).
func (t *thrown) ofProperty() (string, bool) {
	m := ofProperty.FindStringSubmatch(t.message)
	switch {
	case m == nil:
		return "", false
	case m[1] == "redeclaration of":
		return "Cannot redefine property: " + m[2], true
	case m[1] != "" && (t.native == "defineProperty" || t.native == "defineProperties"):
		return "Cannot define property " + m[2] + ", object is not extensible", true
	case m[1] != "":
		return "Cannot add property " + m[2] + ", object is not extensible", true
	case isIndex(m[3]):
		return "Cannot delete property '" + m[3] + "' of [object Array]", true
	}
	// The position is that of the operator, or of a key behind it.
	end := t.at
	for end < len(t.code) && t.code[end] != ';' && t.code[end] != '\n' {
		end++
	}
	class := "Object"
	if d := deletes.FindStringSubmatch(t.code[:end]); d != nil && t.native == "" {
		if madeAs(t.earlier()+t.code, d[1]) == "Proxy" {
			return "'deleteProperty' on proxy: trap returned falsish for property '" + m[3] + "'", true
		}
		class = t.classNamed(d[1])
	}
	return "Cannot delete property '" + m[3] + "' of #<" + class + ">", true
}

// isIndex reports whether the name of a property is most likely an index of an array.
func isIndex(name string) bool { return name != "" && strings.Trim(name, "0123456789") == "" }

// pattern words what is wrong with a regular expression.
func (t *thrown) pattern(reason string) string {
	source, flags := t.value(0), t.value(1)
	if source == "" {
		return "Invalid regular expression: " + reason
	}
	if reason == patterns["unexpected end"] && strings.LastIndexByte(source, '[') > strings.LastIndexByte(source, ']') {
		reason = "Unterminated character class"
	}
	if flags == "undefined" {
		flags = ""
	}
	return "Invalid regular expression: /" + source + "/" + flags + ": " + reason
}
