package source

import (
	"os"
	"path/filepath"
	"testing"
)

// ambiguous are programs whose last statement is hard to find by tokens.
var ambiguous = []string{
	"1; 2", "#", "1; 2;;", ";", "1;", "1; 'use strict'", "a\n/b;c/g; d", "await 1; await /;x/.test(a)",
	"for (const x of /;y/g[Symbol.match]('a')) ; x", "do x; while (y)", "do x; while (y) ;",
	"if (a) b; else c", "if (a) b; else c; d", "if (a) ; b", "while (a) ; b", "label: a; b",
	"x; function f() {}", "x; async () => {}", "x; class A {}", "x; {}", "x; {a: 1}", "`;`; `${';'}`",
	"`${`;`}; x`; y", "a = {b: 1}; a\n(1)", "a; b\nc", "a; b // ;", "a; b /* ; */", "a; <!-- b\nc",
	"a\n--> b\n; c", "a; module.exports = 1", "a; setTimeout(f)", "}; (() => { 1", "}); ((async () => { 1",
	"[); 1", "a; 'b", "a; `b", "a; /* b", "let x = 1; x / 2; x", "(a) / 2; b", "(a) /b;c/g; d",
	"{} /b;c/g; d", "x = {} / 1; y", "yield /;/; 1", "a?.5:1; b", "a; return b", "a; #b in c",
	"const a = 1; const a = 2; a", "switch (a) { case 1: b; }\nc; d", "a; b => { c; }",
	"a; (function () { b; })()",
}

// FuzzShape checks that the shape by tokens is the one by the syntax tree, wherever there is a tree.
func FuzzShape(f *testing.F) {
	for _, code := range ambiguous {
		f.Add(code)
	}
	programs, err := filepath.Glob("../../testdata/*/*.js")
	if err != nil || len(programs) < 100 {
		f.Fatal(len(programs), err)
	}
	for _, name := range programs {
		code, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(code))
	}
	f.Fuzz(func(t *testing.T, code string) {
		if len(code) > 20_000 || checkText(code) != nil || tooDeep(code) {
			return
		}
		fast, slow := &Source{head: functionHead}, &Source{head: functionHead}
		fast.shape(code)
		slow.shapeByTree(code)
		if slow.doubtful {
			return
		}
		if fast.Text != slow.Text || fast.doubtful {
			t.Errorf("%q is compiled as\n%s\nby its tree as\n%s", code, fast.Text, slow.Text)
		}
		if fast.Called != slow.Called {
			t.Errorf("%q is called: %t, by its tree %t", code, fast.Called, slow.Called)
		}
	})
}
