package source

import (
	"fmt"
	"path"
	"strings"

	"github.com/airlock-run/airlock/sandbox/internal/lazyregexp"
)

// Input is the code of a request.
type Input struct {
	Code       string
	TypeScript bool
	// Files are what the code can import, by relative path.
	Files map[string][]byte
	// Entry is the path of the file to run in place of Code.
	Entry string
	// Packages are those of the deployment.
	Packages Packages
	// Session makes the declarations of the code outlive it.
	Session bool
	// Saved has the top level of modules kept apart from what is called, so that it can be evaluated ahead.
	Saved bool
}

// Exception is an error in the code, or one that the code threw. Line and Column count from 1; 0 is unknown.
type Exception struct {
	Name, Message, Stack string
	Line, Column         int
	File                 string
}

// Of returns the form in which the code of a request runs, or what is wrong with it.
func Of(in Input) (*Source, *Exception) {
	s, ex := sourceOf(in)
	if ex == nil {
		s.mentions = mentionsOf(s.Text)
		if s.given = in.Code; in.Entry != "" {
			s.given = string(in.Files[in.Entry])
		}
	}
	return s, ex
}

func sourceOf(in Input) (*Source, *Exception) {
	code, name, typescript := in.Code, "script.js", in.TypeScript
	if in.Entry != "" {
		content, ok := in.Files[in.Entry]
		if !ok {
			return nil, &Exception{Name: "Error", Message: fmt.Sprintf("the entry %q is not among the files", in.Entry)}
		}
		code, name = string(content), in.Entry
		typescript = typescript || isTypeScript(name)
	} else if typescript {
		name = "script.ts"
	}
	if ex := checkText(code); ex != nil {
		return nil, ex
	}
	code = joinLabels(code)
	bare, skipped := unwrap(code)
	found := moduleSyntax(bare)
	head, inBundle := found.head(bare), functionHead
	if in.Session {
		head, inBundle = sessionHead, sessionHead
	}
	if s, ok := in.direct(bare, skipped, found); ok {
		return s, nil
	}
	requires := found.require && (len(in.Files) > 0 || in.Packages.anyOf(found.required))
	if found.runsAsMain() && !requires && !in.Session {
		return normalize(code, typescript, head)
	}
	follows := strings.Contains(bare, asyncHooks) && hasContexts(bare)
	if !found.isModule() && !requires && !follows {
		s, ex := normalize(code, typescript, head)
		if ex == nil {
			s.name = name
		}
		return s, ex
	}
	s := &Source{name: name, head: inBundle, skipped: skipped, from: in.Packages}
	return newBundle(s, in.Files, bare, found, typescript, follows)
}

// asyncHooks is the module whose contexts notice an await only as a call of then.
const asyncHooks = "async_hooks"

// hasContexts reports whether a text mentions what asynchronous contexts can be observed with. Promise libraries import
// the module for AsyncResource alone.
func hasContexts(text string) bool {
	return strings.Contains(text, "AsyncLocalStorage") || strings.Contains(text, "createHook") ||
		strings.Contains(text, "executionAsync")
}

// Named returns the source of code that is compiled as it is. Its stack frames name one file.
func Named(name string) *Source { return &Source{name: name} }

func isTypeScript(name string) bool {
	switch path.Ext(name) {
	case ".ts", ".mts", ".cts", ".tsx":
		return true
	}
	return false
}

// runsAsMain reports whether code compares require.main with module and is otherwise a script.
func (m moduleForm) runsAsMain() bool {
	return m.main && !(m.exports && m.handler) && len(m.imports) == 0 && !m.dynamic && !m.meta
}

// head returns the head of the function around code that is a script. One with a this of its own has that of a CommonJS
// module.
func (m moduleForm) head(code string) string {
	parameters := functionHead
	if m.runsAsMain() || m.objects && !m.others {
		parameters = mainHead
	}
	if strings.Contains(code, "this") {
		return withThis(parameters)
	}
	return parameters
}

// withThis returns the head of a function that has a this of its own, in place of that of an arrow function.
func withThis(head string) string {
	return thisStart + strings.TrimSuffix(strings.TrimPrefix(head, arrowStart), arrowEnd) + thisEnd
}

// isModule reports whether code has what only a module may have.
func (m moduleForm) isModule() bool { return m.exports || len(m.imports) > 0 || m.dynamic || m.meta }

// Bundled reports whether the text was made of several modules. A printer wrote it, so it cannot close the function
// around itself.
func (s *Source) Bundled() bool { return s.bundle != nil }

// Loads reports whether the code has a top level that can be evaluated before the code is called. Statements are
// evaluated by each run, since their value is the result; the modules that they import are not.
func (s *Source) Loads() bool { return s.bundle != nil }

// LeavesScript reports whether the script is a function that the compiled text leaves, or that is left after loading.
func (s *Source) LeavesScript(loaded bool) bool {
	if s.bundle != nil {
		return s.bundle.shaped
	}
	return loaded
}

// IsModule reports whether the code's imports and exports make it an ES module.
func (s *Source) IsModule() bool {
	return s.single != nil && s.single.module || s.bundle != nil && s.bundle.module
}

// mentions is what the text names that only some code gets.
type mentions struct {
	matches bool // RegExp.$1 or another property that has the last match
	sets    bool // what may be regular expressions with the flag v
	named   bool // a computed regular expression
	path    bool // __dirname or __filename
}

// computed matches what makes a regular expression of anything but a string that is spelled out.
var computed = lazyregexp.New("RegExp\\(\\s*[^\\s\"'`/)]")

var matchProperty = lazyregexp.New(`RegExp\.(?:\$|lastMatch|lastParen|leftContext|rightContext)`)

// mentionsOf returns what a text mentions.
func mentionsOf(text string) mentions {
	return mentions{
		matches: strings.Contains(text, "RegExp.") && matchProperty.MatchString(text),
		sets:    strings.Contains(text, "RegExp") && hasSetsFlags(text),
		named:   strings.Contains(text, "RegExp(") && computed.MatchString(text),
		path:    strings.Contains(text, "__dirname") || strings.Contains(text, "__filename"),
	}
}

// hasSetsFlags reports whether a text has a string of flags of regular expressions that contains v.
func hasSetsFlags(text string) bool {
	const quotes = "\"'`"
	for {
		i := strings.IndexAny(text, quotes)
		if i < 0 {
			return false
		}
		rest := strings.TrimLeft(text[i+1:], "dgimsyv")
		flags := text[i+1 : len(text)-len(rest)]
		if strings.Contains(flags, "v") && strings.IndexAny(rest, quotes) == 0 {
			return true
		}
		text = rest
	}
}

// ReadsMatches reports whether the code mentions RegExp.$1 or another property that has the last match.
func (s *Source) ReadsMatches() bool { return s.mentions.matches }

// MentionsSets reports whether the code may make regular expressions with the flag v.
func (s *Source) MentionsSets() bool { return s.mentions.sets }

// ShowsPatterns reports whether the code may show the error of a computed regular expression. Packages may not: they
// are evaluated once for code that does and for code that does not.
func (s *Source) ShowsPatterns() bool { return s.mentions.named && !s.packages }

// MentionsPath reports whether the code is a CommonJS module that mentions its path.
func (s *Source) MentionsPath() bool { return s.mentions.path && !s.IsModule() }

// FirstLine returns the line of the caller's text at which the code begins.
func (s *Source) FirstLine() int { return 1 + s.skipped }
