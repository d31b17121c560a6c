package flow

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/tdewolff/parse/v2/js"

	"github.com/airlock-run/airlock/policy/scan/internal/catalogue"
	"github.com/airlock-run/airlock/policy/scan/internal/cost"
	"github.com/airlock-run/airlock/policy/threat"
)

// A Feed says what a command is given. Guests cannot run commands, so what they are given tells attacks from libraries
// that run commands elsewhere.
type Feed uint8

const (
	Unfed   Feed = iota // nothing known, or no call
	Fed                 // text of the code, or what the caller passes in
	Hostile             // what only attacks run
)

// command reports the call of a symbol that runs commands.
func (cs *calls) command(s *catalogue.Symbol, c call) {
	if s.Category != threat.CommandExecution {
		return
	}
	feed := cs.feedOf(s, c)
	if feed == Unfed && !cs.program.dynamicKey {
		cs.program.again, cs.program.dynamicKey = true, true // the next walk may know the command
	}
	if s.OnUse || feed != Unfed && !cs.findings.mentioned[s] {
		cs.findings.feed = feed
		cs.findings.found(s, c.at)
		cs.findings.feed = Unfed
	}
	if feed != Unfed {
		cs.findings.used(s)
	}
	if feed == Hostile {
		if cs.findings.hostile == nil {
			cs.findings.hostile = map[*catalogue.Symbol]bool{}
		}
		cs.findings.hostile[s] = true
	}
}

// file records the call of a function for files that the code or the caller names. Unlisted functions share a symbol.
func (cs *calls) file(s *catalogue.Symbol, c call) {
	if s.Category == threat.FilesystemAccess && !strings.HasSuffix(s.Name, "*") &&
		(c.outside || cs.feedOfValue(c.arg(0)) != Unfed) {
		cs.findings.used(s)
	}
}

// feedOf returns what a call feeds to a command. A program that is known, of whose arguments nothing is, is a default.
func (cs *calls) feedOf(s *catalogue.Symbol, c call) Feed {
	out := Unfed
	if c.outside || c.template != nil {
		out = Fed
	}
	for i, a := range c.args[:min(len(c.args), maxCommandArgs)] {
		if a.carriesEnvironment(environmentDepth) && (i == 0 || !a.isOptions()) {
			return Hostile
		}
		fed := Unfed
		if i == 0 || a != nil && a.kind == kindArray {
			fed = cs.feedOfValue(a)
		}
		if i == 0 && fed == Fed && len(c.args) > 1 && !isShell(s) && isUnknown(c.args[1]) {
			fed = Unfed
		}
		out = max(out, fed)
	}
	if len(c.args) > 1 && c.arg(0) != nil && c.args[0].kind == kindText { // a program and its arguments
		words := append([]*value{c.args[0]}, elements(c.args[1])...)
		if cs.feedOfValue(&value{kind: kindArray, obj: &object{elems: words}}) == Hostile {
			return Hostile
		}
	}
	return max(out, cs.feedOfValue(c.template))
}

// isShell reports whether a symbol takes a whole command as text.
func isShell(s *catalogue.Symbol) bool {
	return strings.HasSuffix(s.Name, "exec") || strings.HasSuffix(s.Name, "execSync") || s.Role != catalogue.NoRole
}

// isUnknown reports whether nothing is known of a value, or of the elements of an array that has some.
func isUnknown(v *value) bool {
	if v == nil {
		return true
	}
	return v.kind == kindArray && len(v.obj.elems) > 0 &&
		!slices.ContainsFunc(v.obj.elems, func(e *value) bool {
			return e != nil && (e.kind != kindText || e.text != "")
		})
}

// maxCommandArgs is how many arguments of a call are looked at: a program, its arguments, and options.
const maxCommandArgs = 4

// feedOfValue returns what feeding a value to a command means.
func (cs *calls) feedOfValue(v *value) Feed {
	out := Unfed
	for ; v != nil && out < Hostile; v = v.alt {
		text := v.text
		switch v.kind {
		case kindText, kindPartial:
			if text != "" {
				out = max(out, Fed)
			}
		case kindDecoded:
			return Hostile
		case kindArray:
			for _, e := range v.obj.elems[:min(len(v.obj.elems), maxCommandArgs)] {
				out = max(out, cs.feedOfValue(e))
			}
			text, _ = cs.values.joined(v.obj, " ")
		default:
			continue
		}
		text = text[:min(len(text), maxCommandText)]
		if v.decoded || cs.budget.Take(cost.NestedWork) && hostileCommand().MatchString(text) {
			out = Hostile
		}
	}
	return out
}

// maxCommandText is how many bytes of a command are searched.
const maxCommandText = 1000

// hostileCommand matches commands of attacks: downloads that a shell runs, reverse shells, credentials, and encoded
// scripts.
var hostileCommand = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)` +
		`\b(curl|wget|fetch|base64)\b.*\|\s*(sudo\s+)?(env\s+)?(/\S*/)?(ba|z|da|k|a)?sh\b` +
		`|(ba|z|da)?sh\s+<\(|\b(ba|z)?sh\s+-i\b|/dev/(tcp|udp)/|\b(nc|ncat|netcat)\b.*\s-\w*[ec]\b|\bmkfifo\b` +
		`|\bsocat\b.*\bexec:|/etc/(passwd|shadow|sudoers)|\.ssh/|\.aws/credentials|/proc/(self|\d+)/environ` +
		`|169\.254\.169\.254|\bbase64\s+(-d|-D|--decode)\b|\brm\s+-\w*[rf]\w*\s+(--no-preserve-root\s+)?[/~]|\bcrontab\b` +
		`|\bxmrig\b|\bpowershell(\.exe)?\b.*-(e|en|enc|encodedcommand)\s|\b(python3?|perl|ruby|php)\b.*\bsocket\b`)
})

// isOptions reports whether v is an object of options, whose env is for the command alone.
func (v *value) isOptions() bool { return v != nil && v.kind == kindObject }

// isOutside reports whether an expression is what the caller passes in: a name that neither the code nor the host
// defines, or a member of one.
func (h *host) isOutside(e js.IExpr) bool {
	v := variableOf(e)
	if v == nil || v.Decl != js.NoDecl {
		return false
	}
	name := string(v.Data)
	return h.standsFor(name) == nil && h.program.imports[name] == nil
}

// variableOf returns the variable of an expression that is one, or a member of one; nil for any other.
func variableOf(e js.IExpr) *js.Var {
	for range maxCommandArgs {
		switch x := e.(type) {
		case *js.GroupExpr:
			e = x.X
		case *js.DotExpr:
			e = x.X
		case *js.IndexExpr:
			e = x.X
		case *js.Var:
			return resolved(x)
		default:
			return nil
		}
	}
	return nil
}

// arrives reports whether the last of some arguments holds what the caller passes in, or what the code awaits.
func (h *host) arrives(args []js.Arg) bool {
	return len(args) > 0 && h.holdsOutside(args[len(args)-1].Value, maxOutsideDepth)
}

// maxOutsideDepth bounds the expressions in which holdsOutside looks.
const maxOutsideDepth = 8

func (h *host) holdsOutside(e js.IExpr, depth int) bool {
	if depth == 0 || !h.budget.Take(cost.ValueWork) {
		return true
	}
	depth--
	switch x := e.(type) {
	case *js.GroupExpr:
		return h.holdsOutside(x.X, depth)
	case *js.UnaryExpr:
		return x.Op == js.AwaitToken || h.holdsOutside(x.X, depth)
	case *js.BinaryExpr:
		return h.holdsOutside(x.X, depth) || h.holdsOutside(x.Y, depth)
	case *js.CondExpr:
		return h.holdsOutside(x.X, depth) || h.holdsOutside(x.Y, depth)
	case *js.TemplateExpr:
		return slices.ContainsFunc(x.List, func(p js.TemplatePart) bool { return h.holdsOutside(p.Expr, depth) })
	case *js.CallExpr:
		return h.holdsOutside(x.X, depth) ||
			slices.ContainsFunc(x.Args.List, func(a js.Arg) bool { return h.holdsOutside(a.Value, depth) })
	case *js.DotExpr:
		return h.holdsOutside(x.X, depth)
	}
	return h.isGiven(e)
}

// isGiven reports whether an expression is what the caller passes in, by its own name or by that of a variable.
func (h *host) isGiven(e js.IExpr) bool {
	if h.isOutside(e) {
		return true
	}
	info := h.program.vars[variableOf(e)]
	return info != nil && info.given
}
