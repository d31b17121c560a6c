package flow

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/tdewolff/parse/v2/js"

	"github.com/airlock-run/airlock/policy/scan/internal/catalogue"
	"github.com/airlock-run/airlock/policy/scan/internal/cost"
	"github.com/airlock-run/airlock/policy/scan/internal/lexer"
	"github.com/airlock-run/airlock/policy/scan/internal/syntax"
	"github.com/airlock-run/airlock/policy/threat"
)

// maxNestedScans bounds the strings of code that one walk scans.
const maxNestedScans = 32

// smuggled marks an object that has a key that reaches a prototype. It is harmless until it is merged into another.
const smuggled = "smuggled"

// mayCall reports whether code may call anything or reach a member.
func mayCall(code string) bool { return strings.ContainsAny(code, "(.[`") }

// codeString scans a constant string that is run as code, and reports a string that came out of a decoder.
func (cs *calls) codeString(c call) {
	v := c.arg(len(c.args) - 1)
	if c.template != nil {
		v = c.template
	}
	if v.isDecoded() {
		cs.findings.add(threat.EncodingTricks, catalogue.NeverGranted, "", c.at, "a decoded string is run as code")
	}
	for ; v != nil && cs.nestedScans < maxNestedScans; v = v.alt {
		if v.kind == kindText && v.text != "" && cs.nested < 2 && len(v.text) <= maxFoldedBytes &&
			cs.budget.Take(len(v.text)/cost.TextBytes) && mayCall(v.text) {
			cs.scanNested(v.text, c.at)
		}
	}
}

// scanNested scans a constant string that is run as code. Its findings have the place that runs it.
func (cs *calls) scanNested(code string, at int) {
	hits, _ := cs.hitsIn(code)
	for i := range hits {
		cs.findings.addNested(&hits[i], at)
	}
}

// hitsIn returns what a scan of a constant string finds. It reports false if there was no scan.
func (cs *calls) hitsIn(code string) ([]Hit, bool) {
	if cs.nestedScans >= maxNestedScans || !cs.budget.Take(cost.NestedWork+len(code)*2) {
		return nil, false
	}
	cs.nestedScans++
	o := syntax.OutlineOf(code)
	t, err := syntax.ParseTree(&o, cs.budget)
	if err != nil {
		return nil, true // what does not parse does not run
	}
	inner := newWalker(cs.cat, nil, cs.loader.files, cs.budget)
	inner.calls.nested = cs.nested + 1
	inner.cursor.text, inner.cursor.buf = t.Text, t.Buf
	inner.walk(t.List)
	return inner.findings.vain(), true
}

// isHarmless reports whether a scan of a constant string finds nothing.
func (cs *calls) isHarmless(code string) bool {
	if cs.nested >= 2 || len(code) > maxFoldedBytes {
		return false
	}
	hits, scanned := cs.hitsIn(code)
	return scanned && len(hits) == 0
}

// keysOf returns the names of an object's members, as Object.keys and for-in do.
func keysOf(v *value) *value {
	out := &object{}
	for ; v != nil; v = v.alt {
		if v.kind != kindObject || v.obj.rest != nil || len(v.obj.props) > maxAlternatives {
			continue
		}
		for _, name := range sortedKeys(v.obj.props) {
			out.elems = append(out.elems, textValue(name))
		}
	}
	if len(out.elems) == 0 {
		return nil
	}
	return &value{kind: kindArray, obj: out}
}

func sortedKeys(m map[string]*value) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// pollutes reports whether a document has keys that reach a prototype. The decoder bounds the depth.
func pollutes(doc any) bool {
	switch d := doc.(type) {
	case []any:
		return slices.ContainsFunc(d, pollutes)
	case map[string]any:
		for key, v := range d {
			inner, isObject := v.(map[string]any)
			_, reaches := inner["prototype"]
			if key == "__proto__" || key == "constructor" && isObject && reaches || pollutes(v) {
				return true
			}
		}
	}
	return false
}

// isSetter reports whether name is a usual name of functions that write to a path in an object.
func isSetter(name string) bool {
	switch name {
	case "set", "setWith", "setIn", "setValue", "setPath", "setProperty", "setDeep", "deepSet", "dset", "assocPath", "put",
		"update",
		"updateWith", "updateIn", "unset", "unsetIn":
		return true
	}
	return false
}

// isMerger reports whether name is a usual name of functions that copy members deeply.
func isMerger(name string) bool {
	switch name {
	case "merge", "mergeDeep", "deepMerge", "mergeWith", "mergeAll", "deepmerge", "extend", "extendDeep", "deepExtend",
		"defaults",
		"defaultsDeep", "deepAssign", "assignDeep", "mixin", "mixinDeep", "deepCopy":
		return true
	}
	return false
}

// pollution reports a call that writes to a path through a prototype, set(o, "__proto__.x", v), or that merges an
// object with such a key.
func (cs *calls) pollution(callee js.IExpr, c call) {
	name := ""
	switch e := callee.(type) {
	case *js.Var:
		name = cs.cursor.source(e.Data)
	case *js.DotExpr:
		if l, ok := e.Y.(js.LiteralExpr); ok {
			name = cs.cursor.propertyText(l)
		}
	}
	if isMerger(name) {
		for _, a := range c.args {
			if a != nil && (a.kind == kindObject && a.text == smuggled || a.kind == kindPrototype) {
				cs.facts.Flags.HasProtoAccess = true
				cs.findings.add(threat.PrototypePollution, catalogue.NeverGranted, "", c.at, name,
					" is handed an object whose keys reach a prototype")
			}
		}
	}
	if !isSetter(name) {
		return
	}
	for _, a := range c.args[:min(len(c.args), 2)] {
		if a == nil || a.alt != nil || !cs.budget.Take(len(a.text)/cost.TextBytes) {
			continue
		}
		steps := []string{}
		switch a.kind {
		case kindText:
			if !strings.Contains(a.text, "__proto__") && !strings.Contains(a.text, "prototype") ||
				!cs.budget.Take(len(a.text)*cost.ValueWork) {
				continue
			}
			steps = strings.FieldsFunc(a.text, func(r rune) bool { return r == '.' || r == '[' || r == ']' || r == '/' })
		case kindArray:
			if !cs.budget.Take(len(a.obj.elems) * cost.ElementWork) {
				continue
			}
			for _, e := range a.obj.elems {
				text, _ := cs.values.textOf(e)
				steps = append(steps, text)
			}
		}
		at := slices.Index(steps, "constructor")
		if len(steps) > 1 && (slices.Contains(steps, "__proto__") ||
			at >= 0 && at+1 < len(steps) && steps[at+1] == "prototype") {
			cs.facts.Flags.HasProtoAccess = true
			cs.findings.add(threat.PrototypePollution, catalogue.NeverGranted, "", c.at, name,
				" writes to a path that leads through a prototype")
		}
	}
}

// built returns the value of eval of a name, or a function made of nothing but "return name". Old code finds the global
// object this way.
func (cs *calls) built(s *catalogue.Symbol, c call) *value {
	text, ok := cs.values.textOf(c.arg(len(c.args) - 1))
	if !ok {
		text, ok = cs.values.textOf(c.template)
	}
	if !ok || len(text) > 200 {
		return nil
	}
	text = strings.TrimRight(strings.TrimSpace(text), "; ")
	if s.Role == catalogue.RoleEval {
		return cs.named(text, c.at)
	}
	name, ok := strings.CutPrefix(text, "return")
	if !ok {
		return nil
	}
	if v := cs.named(strings.TrimSpace(name), c.at); v != nil {
		return &value{kind: kindFunction, fn: &function{ret: v}}
	}
	return nil
}

// named returns the value of a name that code in a string mentions.
func (cs *calls) named(name string, at int) *value {
	if name == "this" {
		return &value{kind: kindGlobal}
	}
	if bytes.ContainsFunc([]byte(name), func(r rune) bool { return r > 0x7f || !lexer.IsWordByte(byte(r)) }) {
		return nil
	}
	was := cs.scope.quiet
	cs.scope.quiet = true
	v := cs.host.global(name, at)
	cs.scope.quiet = was
	return v
}

// idle reports whether the code that a call of Function or eval runs does nothing but find the global object or a
// prototype.
func (cs *calls) idle(c call) bool {
	if len(c.args) == 0 {
		return false
	}
	for _, a := range c.args[:len(c.args)-1] { // the parameters; a default may run code
		if name, ok := cs.values.textOf(a); !ok || strings.Contains(name, "=") {
			return false
		}
	}
	text, ok := cs.values.textOf(c.arg(len(c.args) - 1))
	return ok && len(text) < 80 && idleCode.MatchString(text)
}

var idleCode = regexp.MustCompile(`^\s*(((return\s+)?this|return\s+(async )?function ?\*? ?\(\) ?\{ ?\}(\(\))?)` +
	`\s*;?)?\s*$`)

// onlyLoads reports whether eval gets nothing but require, or a module without powers in place of what may be missing.
// Libraries hide modules from bundlers this way. What the code does with require is followed.
func (cs *calls) onlyLoads(c call) bool {
	text, ok := cs.values.textOf(c.arg(0))
	if !ok || len(text) > 80 {
		return false
	}
	loaded := loadingCode.FindStringSubmatch(text)
	return loaded != nil && (loaded[1] == "" || cs.scope.fallback > 0 && catalogue.IsPowerless(loaded[1]))
}

var loadingCode = regexp.MustCompile(`^\s*require(?:\(\s*["'](?:node:)?([\w/]+)["']\s*\)(?:\.\w+)*)?\s*;?\s*$`)

// requires returns the function that a call of Function makes in place of what may be missing, if that does nothing but
// load a module: Function('return require("' + name + '")').
func (cs *calls) requires(s *catalogue.Symbol, c call) (*value, bool) {
	if s.Role != catalogue.RoleFunction || cs.scope.fallback == 0 || len(c.args) != 1 || c.arrives || !c.named {
		return nil, false
	}
	var module *value
	for v := c.args[0]; v != nil; v = v.alt {
		if len(v.text) > 80 || v.decoded || !cs.budget.Take(cost.NestedWork) {
			return nil, false
		}
		switch loaded := requiringCode.FindStringSubmatch(v.text); {
		case loaded == nil, v.kind != kindText && v.kind != kindPartial, v.kind == kindText && loaded[2] == "":
			return nil, false
		case v.kind == kindText:
			module = cs.values.either(module, cs.loader.load(textValue(loaded[1]), c.at, "require"))
		default:
			module = cs.values.either(module, cs.loader.load(nil, c.at, "require"))
			if !cs.program.dynamicKey {
				cs.program.again, cs.program.dynamicKey = true, true // the next walk may know the name
			}
		}
	}
	return &value{kind: kindFunction, fn: &function{ret: module}}, c.args[0] != nil
}

// requiringCode matches the start of code that loads a module, the name of the module, and the end of the code.
var requiringCode = regexp.MustCompile(`^return require\(["']([\w/:]*)(["']\)\s*;?)?$`)

// generated reports whether a call of Function makes a function with parameters of text that the code puts together, as
// libraries do of schemas and templates. Attacks run a text that they have, decode, receive or are given.
func (cs *calls) generated(c call) bool {
	if len(c.args) < 2 && !c.handles || c.arrives || c.template != nil {
		return false
	}
	text := c.arg(len(c.args) - 1)
	if text == nil && !cs.program.dynamicKey {
		cs.program.again, cs.program.dynamicKey = true, true // the next walk may know the text
	}
	return cs.putsTogether(text, c.joined) || c.handles && text.isOwn()
}

// isOwn reports whether v is nothing but functions of the code itself.
func (v *value) isOwn() bool {
	for ; v != nil; v = v.alt {
		if v.kind != kindFunction {
			return false
		}
	}
	return true
}

// putsTogether reports whether a text is unknown, or put together of unknown parts and of others without powers. A text
// that the code joins may look constant here, because the walk does not count how often loops and callbacks add to it.
func (cs *calls) putsTogether(text *value, joined bool) bool {
	for v := text; v != nil; v = v.alt {
		if v.decoded || v.coded || !cs.budget.Take(cost.NestedWork+cost.SearchedByte*len(v.text)) ||
			powerfulCode.MatchString(v.text) {
			return false
		}
		switch {
		case v.kind == kindPartial, v.kind == kindText && v.text == "":
		case v.kind == kindText && joined:
			if !cs.isHarmless(v.text) {
				return false
			}
		case v.kind != kindText, text.alt == nil, mayCall(statementWords.ReplaceAllString(v.text, "")):
			return false
		}
	}
	return true
}

// composes reports whether eval gets a text that the code puts together.
func (cs *calls) composes(c call) bool {
	text := c.arg(0)
	if len(c.args) != 1 || c.arrives || c.template != nil || !c.joined {
		return false
	}
	if !cs.program.dynamicKey {
		cs.program.again, cs.program.dynamicKey = true, true // the next walk may know more of the text
	}
	return cs.putsTogether(text, true)
}

// probes reports whether the code that a call of Function or eval builds does nothing but throw an error, or return a
// literal where something may be missing. Libraries learn in this way what the engine allows.
func (cs *calls) probes(c call) bool {
	text, ok := cs.values.textOf(c.arg(len(c.args) - 1))
	if !ok || len(text) > 80 || c.template != nil || !c.named {
		return false
	}
	found := probingCode.FindStringSubmatch(text)
	return found != nil && (found[1] != "" || cs.scope.fallback > 0)
}

var probingCode = regexp.MustCompile(`^\s*(?:(throw new \w*Error\(\))` +
	`|return (?:true|false|null|undefined|\d+))\s*;?\s*$`)

// statementWords matches the words of statements with the parenthesis behind them.
var statementWords = regexp.MustCompile(`\b(if|for|while|switch|catch|return)\s*\(`)

// powerfulCode matches text in which code gets at the host.
var powerfulCode = regexp.MustCompile(`\b(process|require|import|constructor|globalThis|module)\b`)
