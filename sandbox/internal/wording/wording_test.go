package wording_test

import (
	"strings"
	"testing"

	"github.com/airlock-run/airlock/sandbox/internal/wording"
)

// place returns the place at the mark | in a text.
func place(text, native string) wording.Place {
	before, after, _ := strings.Cut(text, "|")
	return wording.Place{Native: native, Code: before + after, At: len(before)}
}

func TestMessage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, message, native, text, want string }{
		{"TypeError", "not a function", "", "const n = 1; order.items.|total()", "order.items.total is not a function"},
		{"TypeError", "not a function", "", "get(1, 2).|x()", "get(...).x is not a function"},
		{"TypeError", "not a function", "Promise", "new |Promise(5)", "Promise resolver 5 is not a function"},
		{"TypeError", "not a constructor", "", "new |Thing(1)", "Thing is not a constructor"},
		{"TypeError", "cannot read property 'id' of undefined", "", "|user.id",
			"Cannot read properties of undefined (reading 'id')"},
		{"ReferenceError", "x is not initialized", "", "|x", "Cannot access 'x' before initialization"},
		{"TypeError", "'n' is read-only", "", "|n = 2", "Assignment to constant variable."},
		{"TypeError", "value is not iterable", "", "const [a] = |five", "five is not iterable"},
		{"RangeError", "invalid array length", "Array", "new |Array(-1)", "Invalid array length"},
		{"RangeError", "invalid number of digits", "toFixed", "n.|toFixed(101)",
			"toFixed() digits argument must be between 0 and 100"},
	} {
		got, _, ok := wording.Message(c.name, c.message, place(c.text, c.native))
		if !ok || got != c.want {
			t.Errorf("%s in %s: %q, want %q", c.message, c.text, got, c.want)
		}
	}
	if got, _, ok := wording.Message("Error", "out of stock", place("|throw", "")); ok {
		t.Errorf("an error of the program is worded %q", got)
	}
}

func TestSyntax(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ engine, parser, text, want string }{
		{"expecting ';'", `Expected ";" but found "b"`, "a |b", "Unexpected identifier 'b'"},
		{"expecting ')'", `Expected ")" but found "b"`, "f(a |b", "missing ) after argument list"},
		{"x", `The symbol "a" has already been declared`, "let a; let |a", "Identifier 'a' has already been declared"},
		{"something else", "Unrelated", "|x", "something else"},
	} {
		before, after, _ := strings.Cut(c.text, "|")
		if got := wording.Syntax(c.engine, c.parser, before+after, len(before), false); got != c.want {
			t.Errorf("%s: %q, want %q", c.text, got, c.want)
		}
	}
	if got := wording.Syntax("x", `Expected "}" but found end of file`, "{", 1, true); got != wording.EndOfInput {
		t.Errorf("code that ends too early: %q", got)
	}
}

// FuzzMessage words errors at any place of any text.
func FuzzMessage(f *testing.F) {
	for _, seed := range []struct{ name, message, native, text string }{
		{"TypeError", "not a function", "", "a.b['c'].|d?.(e)"},
		{"TypeError", "not a function", "map", "[1].|map(5, {})"},
		{"TypeError", "cannot set property 'x' of null", "", "(await |f()).x ??= 1"},
		{"TypeError", "value is not iterable", "", "for (const [a, b] of |c) ;"},
		{"TypeError", "invalid brand on object", "", "class A { #p; f(o) { return |o.#p } }"},
		{"TypeError", "a is not initialized", "", "delete |o.a"},
		{"SyntaxError", "invalid group", "RegExp", "new |RegExp('(?a)', 'g')"},
	} {
		f.Add(seed.name, seed.message, seed.native, seed.text, "class Prior {}\n")
	}
	f.Fuzz(func(t *testing.T, name, message, native, text, prior string) {
		p := place(text, native)
		p.Prior = prior
		worded, work, ok := wording.Message(name, message, p)
		if most := len(p.Code) + 16*len(prior); work > most {
			t.Errorf("%d bytes of work for %d", work, most)
		}
		if ok && worded == "" {
			t.Error("an empty message")
		}
	})
}

// FuzzSyntax words syntax errors at any place of any text.
func FuzzSyntax(f *testing.F) {
	f.Add("expecting ')'", `Expected ")" but found "b"`, "f(a[0], {b: |b", false)
	f.Fuzz(func(t *testing.T, engine, parser, text string, ended bool) {
		before, after, _ := strings.Cut(text, "|")
		wording.Syntax(engine, parser, before+after, len(before), ended)
	})
}
