package scripttext

import "testing"

func TestBody(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"no fence", "1 + 1", "1 + 1"},
		{"no language", "```\n5\n```", "5\n"},
		{"a known language", "\n  ```typescript\nconst a = 5\na\n```  \n", "const a = 5\na\n"},
		{"more backticks", "````js\n5\n```", "5\n"},
		{"an unknown language", "```python\n5\n```", "```python\n5\n```"},
		{"a single line", "```js```", "```js```"},
		{"no closing fence", "```js\n5", "5"},
		{"a fence inside the code", "```js\n5\n```\n6", "5\n```\n6"},
		{"only a fence", "```\n", "```\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			start, end := Body(c.text)
			if got := c.text[start:end]; got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestCommentShebang(t *testing.T) {
	for code, want := range map[string]string{"#!/usr/bin/env node\n5": "///usr/bin/env node\n5", "5 #!": "5 #!", "": ""} {
		if got := CommentShebang(code); got != want {
			t.Errorf("%q became %q, want %q", code, got, want)
		}
	}
}
