package wording

import (
	"cmp"
	"strings"

	"github.com/airlock-run/airlock/sandbox/internal/lazyregexp"
)

// V8 names the property that a pattern reads of undefined or null, and where the value comes from.

var (
	defaulted = lazyregexp.New(`^(?:const|let|var)\s*\{\s*([\pL_$][\pL\pN_$]*)\s*=[^=>]`)
	inList    = lazyregexp.New(`^\s*(?:const|let|var)\s*\[[^=]*?\{\s*([\pL_$][\pL\pN_$]*)`)
	patterned = lazyregexp.New(`([\pL_$#][\pL\pN_$]*|)` +
		`\s*(?:=\s*)?(?:async\b\s*)?(?:\bfunction\b\s*\*?\s*` +
		`([\pL_$][\pL\pN_$]*|))?\s*\(+[^(){}]*\{\s*([\pL_$][\pL\pN_$]*)[^{}()]*\}[^(){}]*\)\s*(?:=>|\{)`)
	destructed = lazyregexp.New(`^(?:(?:const|let|var)\s*|\()\{\s*([\pL_$][\pL\pN_$]*)[^{}]*\}\s*=\s*`)
	parameter  = lazyregexp.New(`^(?:async\b\s*)?(?:function\b\s*\*?\s*)?[\pL\pN_$#]*\s*\(+[^(){}]*` +
		`\{\s*([\pL_$][\pL\pN_$]*)[^{}]*\}`)
	nested  = lazyregexp.New(`^[^;\n=>]{0,200}?\{[^{}]*:\s*\{\s*([\pL_$][\pL\pN_$]*)`)
	loops   = lazyregexp.New(`^[^;\n]*?\bfor\s*\(\s*(?:const|let|var)\s*\{\s*([\pL_$][\pL\pN_$]*)`)
	without = lazyregexp.New(`^(?:const|let|var)\s*\{\s*(?:\.\.\.[\pL_$][\pL\pN_$]*\s*)?\}\s*=\s*`)
)

// destructuring words a pattern whose value is undefined or null.
func (t *thrown) destructuring(value string) (string, bool) {
	if t.native != "" {
		return "", false
	}
	code := t.code[t.at:]
	if m := nested.FindStringSubmatch(code); m != nil {
		return "Cannot read properties of " + value + " (reading '" + m[1] + "')", true
	}
	if m := defaulted.FindStringSubmatch(code); m != nil {
		return "Cannot read properties of " + value + " (reading '" + m[1] + "')", true
	}
	if m := without.FindString(code); m != "" {
		expr := t.forward(t.at + len(m))
		return "Cannot destructure '" + expr + "' as it is " + value + ".", expr != ""
	}
	m := destructed.FindStringSubmatchIndex(code)
	if m == nil {
		of := value
		line := t.code[strings.LastIndexByte(t.code[:t.at], '\n')+1:]
		if m := inList.FindStringSubmatch(line); m != nil {
			return "Cannot read properties of " + value + " (reading '" + m[1] + "')", true
		}
		m := loops.FindStringSubmatch(line)
		if m != nil {
			of = ".for"
		} else if m = t.parameter(code); value == "null" {
			of = "object null"
		}
		return "Cannot destructure property '" + group(m) + "' of '" + of + "' as it is " + value + ".", m != nil
	}
	expr := t.forward(t.at + m[1])
	if expr == "void" { // as undefined is printed
		expr = "undefined"
	}
	return "Cannot destructure property '" + code[m[2]:m[3]] + "' of '" + expr + "' as it is " + value + ".", expr != ""
}

// parameter finds the pattern that is a parameter of the function that was called. The position is at its name or,
// if it is a method or has none, at the start of the statement around it.
func (t *thrown) parameter(code string) []string {
	near := code[:min(len(code), 4*maxExpression)]
	if IsName((t.caller + " ")[0]) {
		name := t.caller
		if _, class, ok := strings.Cut(near, "class "+name); ok && !IsName((class + " ")[0]) {
			name, near = "constructor", class
		}
		for _, m := range patterned.FindAllStringSubmatch(near, -1) {
			if cmp.Or(m[2], m[1]) == name {
				return m[2:]
			}
		}
	}
	if m := parameter.FindStringSubmatch(code); m != nil {
		return m
	}
	line, _, _ := strings.Cut(near, "\n")
	if all := patterned.FindAllStringSubmatch(line, -1); len(all) == 1 && all[0][1]+all[0][2] == "" {
		return all[0][2:]
	}
	return nil
}
