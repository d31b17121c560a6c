package wording

import (
	"strings"

	"github.com/airlock-run/airlock/sandbox/internal/lazyregexp"
)

// V8 names the class of an object. The code shows it where an object is made, and around this.

var (
	classStart = lazyregexp.New(`\bclass\s+([\pL_$][\pL\pN_$]*)`)
	receiver   = lazyregexp.New(`^([\pL_$][\pL\pN_$]*)\s*` +
		`(?:\??\.\s*#?[\pL_$][\pL\pN_$]*|\[[^\[\]]*\])\s*(?:[-+*/%&|^?<>]{0,3}=|\+\+|--)`)
	// functionHead matches what is in front of the body of a function, or of a class.
	functionHead = lazyregexp.New(`^(?:class\b[^{;]*\{|(?:async\s+)?(?:function\b\s*\*?\s*[\pL\pN_$]*\s*\([^()]*\)` +
		`\s*\{|(?:\([^()]*\)|[\pL_$][\pL\pN_$]*)\s*=>\s*\{?))`)
	instance = lazyregexp.New(`^\s*=\s*(?:Object\.\w+\()?new\s+([\pL_$][\pL\pN_$]*)`)
)

// class returns the name of the class whose head is the last before an offset of the code.
func (t *thrown) class(at int) string {
	found := classStart.FindAllStringSubmatch(t.code[:at], -1)
	if len(found) == 0 {
		found = classStart.FindAllStringSubmatch(t.earlier(), -1)
	}
	if len(found) == 0 {
		return ""
	}
	return found[len(found)-1][1]
}

// classOf returns the class of the object to whose property the code assigns, as far as the code around shows it.
func (t *thrown) classOf(assignment string) string {
	m := receiver.FindStringSubmatch(assignment)
	if m == nil {
		return "Object"
	}
	return t.classNamed(m[1])
}

// classReading returns the class of the object to whose property, which has a getter only, the code assigns.
func (t *thrown) classReading(assignment, property string) string {
	class := t.classOf(assignment)
	if class != "Object" {
		return class
	}
	text := t.earlier() + t.code
	at := strings.LastIndex(text, "get "+property+"(")
	if m := receiver.FindStringSubmatch(assignment); at < 0 || m != nil && strings.Contains(text, m[1]+" = {") {
		return class
	}
	before := text[:at]
	found := classStart.FindAllStringSubmatch(before, -1)
	if len(found) == 0 {
		return class
	}
	name, depth := found[len(found)-1][1], 0
	for _, c := range []byte(before[max(strings.LastIndex(before, "class "+name), 0):]) {
		if c == '{' {
			depth++
		} else if c == '}' {
			if depth--; depth == 0 {
				return class // the class ends before the getter
			}
		}
	}
	return name
}

// classNamed returns the class of the object that a variable holds, or this.
func (t *thrown) classNamed(name string) string {
	class := ""
	if name == "this" {
		class = t.class(t.at)
	} else {
		class = madeAs(t.earlier()+t.code, name)
	}
	if class == "" || class == "Proxy" || strings.HasPrefix(class, "_") {
		return "Object"
	}
	return class
}

// functionSet returns the text of the function or class to whose property the code assigns, if the code shows it.
func (t *thrown) functionSet() string {
	m := receiver.FindStringSubmatch(t.code[t.at:])
	if m == nil || m[1] == "this" {
		return ""
	}
	text := t.earlier() + t.code[:t.at]
	for _, declared := range []string{"function " + m[1] + "(", "class " + m[1] + " ", m[1] + " = "} {
		at := strings.LastIndex(text, declared)
		if at < 0 {
			continue
		}
		if strings.HasSuffix(declared, "= ") {
			at += len(declared)
		}
		if found := functionText((text + t.code[t.at:])[at:]); found != "" {
			return found
		}
	}
	return ""
}

// functionText returns the function or class at the beginning of code: to its closing brace, or to the end of the
// expression behind an arrow. Braces in strings are not told apart.
func functionText(code string) string {
	head := functionHead.FindString(code)
	if head == "" {
		return ""
	}
	if !strings.HasSuffix(head, "{") {
		of := thrown{code: code}
		end := len(head)
		for ; end < len(code) && code[end] != ';' && code[end] != '\n' && end < of.argumentEnd(len(head)); end++ {
		}
		return short(code[:end])
	}
	depth := 1
	for end := len(head); end < len(code); end++ {
		switch code[end] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return code[:end+1]
			}
		}
	}
	return ""
}

// madeAs returns the class in the first "name = new Class" of a text, or "".
func madeAs(text, name string) string {
	for at := 0; ; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return ""
		}
		begins := at+i == 0 || !IsName(text[at+i-1])
		at += i + len(name)
		if !begins {
			continue
		}
		if m := instance.FindStringSubmatch(text[at:]); m != nil {
			return m[1]
		}
	}
}
