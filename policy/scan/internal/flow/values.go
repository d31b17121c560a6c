package flow

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/airlock-run/airlock/policy/scan/internal/cost"
)

// values folds constants within the budget.
type values struct {
	budget      *cost.Budget
	patterns    int // regular expressions run in this walk
	parsedBytes int // bytes of JSON read in this walk
}

// mapped applies f to each alternative.
func (vs *values) mapped(v *value, f func(*value) *value) *value {
	var out *value
	for ; v != nil; v = v.alt {
		one := *v
		one.alt = nil
		out = vs.either(out, f(&one))
	}
	return out
}

// spreadOf returns the array that iterating over a value yields.
func (vs *values) spreadOf(v *value) *value {
	if v != nil && v.kind == kindArray {
		return v
	}
	if text, ok := vs.textOf(v); ok && v.kind == kindText && len(text) <= maxElements {
		return &value{kind: kindArray, obj: &object{elems: vs.characters(v, text)}}
	}
	return nil
}

// concat returns a + b.
func (vs *values) concat(a, b *value) *value {
	if a == nil && b == nil {
		return nil
	}
	var out *value
	for x := a; x != nil; x = x.alt {
		for y := b; y != nil; y = y.alt {
			out = vs.either(out, vs.concatOne(x, y))
		}
	}
	if out == nil && (a.isDecoded() || b.isDecoded()) {
		return &value{kind: kindDecoded, coded: a.isCoded() || b.isCoded()}
	}
	if out == nil {
		return vs.part(a, b)
	}
	return out
}

// part returns what is known of a + b if one of them is unknown: that it carries the environment, or a part of it.
func (vs *values) part(a, b *value) *value {
	for _, v := range []*value{a, b} {
		if v != nil && (v.kind == kindSymbol || v.kind == kindObject) && v.carriesEnvironment(environmentDepth) {
			return v
		}
	}
	for _, v := range []*value{a, b} {
		switch {
		case v == nil:
		case v.kind == kindPartial && v.alt == nil:
			return v
		case v.kind == kindText && len(v.text) > 1 && vs.budget.Take(cost.ValueWork):
			return &value{kind: kindPartial, text: v.text}
		}
	}
	return nil
}

func (vs *values) concatOne(x, y *value) *value {
	decoded := x.decoded || x.kind == kindDecoded || y.decoded || y.kind == kindDecoded
	coded := x.coded || y.coded
	if !vs.budget.Take(cost.ValueWork) {
		return nil
	}
	if x.kind == kindNumber && y.kind == kindNumber {
		return &value{kind: kindNumber, num: x.num + y.num}
	}
	ls, lok := vs.textOfOne(x)
	rs, rok := vs.textOfOne(y)
	switch {
	case lok && rok && len(ls)+len(rs) <= maxFoldedBytes:
		return &value{kind: kindText, text: ls + rs, decoded: decoded, coded: coded}
	case decoded:
		return &value{kind: kindDecoded, coded: coded}
	}
	return nil
}

func (vs *values) joined(o *object, sep string) (string, bool) {
	if len(o.elems) > 512 {
		return "", false
	}
	var b strings.Builder
	for i, e := range o.elems {
		if e == nil || e.kind == kindArray {
			return "", false
		}
		s, ok := vs.textOf(e)
		if !ok || b.Len()+len(s) > maxFoldedBytes {
			return "", false
		}
		if i > 0 {
			b.WriteString(sep)
		}
		b.WriteString(s)
	}
	return b.String(), true
}

func intArg(v *value, otherwise int) (int, bool) {
	switch {
	case v == nil:
		return otherwise, true
	case v.kind == kindNumber && v.alt == nil && v.num > -1e9 && v.num < 1e9:
		return int(v.num), true
	}
	return 0, false
}

func (vs *values) foldText(s, name string, c call) *value {
	arg, hasArg := vs.textOf(c.arg(0))
	i, iok := intArg(c.arg(0), 0)
	j, jok := intArg(c.arg(1), len(s))
	switch name {
	case "toString", "valueOf", "normalize":
		return textValue(s)
	case "concat":
		for k := range c.args {
			a, ok := vs.textOf(c.args[k])
			if !ok || len(s)+len(a) > maxFoldedBytes {
				return nil
			}
			s += a
		}
		return textValue(s)
	case "split":
		if !hasArg || len(s) > maxElements {
			return nil
		}
		out := &object{}
		if !vs.budget.Take((1 + strings.Count(s, arg)) * cost.ElementWork) {
			return nil
		}
		for part := range strings.SplitSeq(s, arg) {
			out.elems = append(out.elems, textValue(part))
		}
		return &value{kind: kindArray, obj: out}
	case "slice", "substring", "substr":
		if !iok || !jok {
			return nil
		}
		return textValue(cutText(s, name, i, j, len(c.args) > 1))
	case "charAt", "at":
		if iok && i < 0 && name == "at" {
			i += len(s)
		}
		if iok && i >= 0 && i < len(s) {
			return textValue(s[i : i+1])
		}
	case "charCodeAt", "codePointAt":
		if iok && i >= 0 && i < len(s) {
			return &value{kind: kindNumber, num: float64(s[i])}
		}
	case "toLowerCase", "toLocaleLowerCase":
		return textValue(strings.ToLower(s))
	case "toUpperCase", "toLocaleUpperCase":
		return textValue(strings.ToUpper(s))
	case "trim", "trimStart", "trimEnd":
		return textValue(strings.TrimSpace(s))
	case "padStart", "padEnd":
		if iok && i <= len(s) {
			return textValue(s)
		}
	case "repeat":
		if iok && i >= 0 && len(s)*i <= maxFoldedBytes && i <= maxFoldedBytes {
			return textValue(strings.Repeat(s, i))
		}
	case "replace", "replaceAll":
		with, ok := vs.textOf(c.arg(1))
		if r := c.arg(0); ok && r != nil && r.alt == nil && r.kind == kindRegExp {
			return vs.replaced(s, r, with)
		}
		if hasArg && ok && len(s)*(len(with)+1) <= maxFoldedBytes {
			n := 1
			if name == "replaceAll" {
				n = -1
			}
			return textValue(strings.Replace(s, arg, with, n))
		}
	}
	return nil
}

// replaced returns the result of replacing the matches of a pattern, if Go reads the pattern as JavaScript does. Go's
// engine takes linear time.
func (vs *values) replaced(s string, pattern *value, with string) *value {
	vs.patterns++
	if vs.patterns > maxPatterns || !vs.budget.Take(cost.PatternWork) || len(pattern.text) > 60 || len(s) > 256 ||
		strings.ContainsRune(with, '$') || strings.ContainsRune(pattern.text, '{') {
		return nil
	}
	re, err := regexp.Compile(pattern.text)
	if err != nil {
		return nil
	}
	if out := re.ReplaceAllLiteralString(s, with); len(out) <= maxFoldedBytes {
		return textValue(out)
	}
	return nil
}

func cutText(s, how string, i, j int, second bool) string {
	n := len(s)
	clamp := func(k int) int { return min(max(k, 0), n) }
	switch how {
	case "slice":
		if i < 0 {
			i += n
		}
		if j < 0 {
			j += n
		}
	case "substr":
		if i < 0 {
			i += n
		}
		i = clamp(i)
		if second {
			j = i + max(j, 0)
		}
	case "substring":
		i, j = clamp(i), clamp(j)
		if i > j {
			i, j = j, i
		}
	}
	i, j = clamp(i), clamp(j)
	if i >= j {
		return ""
	}
	return s[i:j]
}

// characters returns a string's characters as values.
func (vs *values) characters(of *value, text string) []*value {
	if !vs.budget.Take(len(text) * cost.ElementWork) {
		return nil
	}
	out := make([]*value, 0, len(text))
	for _, r := range text {
		out = append(out, &value{kind: kindText, text: string(r), decoded: of.decoded, coded: of.coded})
	}
	return out
}

// itemsOf returns what iterating over a value yields.
func (vs *values) itemsOf(v *value) *value {
	var out *value
	for ; v != nil; v = v.alt {
		if v.kind == kindArray && vs.budget.Take(len(v.obj.elems)) {
			for _, e := range v.obj.elems {
				out = vs.either(out, e)
			}
		}
	}
	return out
}

func (vs *values) elementOf(v *value, i int) *value {
	var out *value
	for ; v != nil; v = v.alt {
		if v.kind == kindArray && i < len(v.obj.elems) {
			out = vs.either(out, v.obj.elems[i])
		}
	}
	return out
}

// set adds a value to those that a member of an object may have.
func (vs *values) set(o *object, key string, v *value) {
	if o.props == nil {
		o.props = map[string]*value{}
	}
	o.props[key] = vs.either(v, o.props[key])
}

// parsed returns the result of JSON.parse on a constant.
func (vs *values) parsed(c call) *value {
	text, ok := vs.textOf(c.arg(0))
	if vs.parsedBytes += len(text) + 64; !ok || vs.parsedBytes > maxParsed || !vs.budget.Take(len(text)*cost.ElementWork) {
		return nil
	}
	dec := json.NewDecoder(strings.NewReader(text))
	var doc any
	if dec.Decode(&doc) != nil {
		return nil
	}
	v := vs.fromJSON(doc)
	if v != nil && v.kind == kindObject && pollutes(doc) {
		v.text = smuggled
	}
	return v
}

func (vs *values) fromJSON(doc any) *value {
	switch d := doc.(type) {
	case string:
		return textValue(d)
	case float64:
		return &value{kind: kindNumber, num: d}
	case []any:
		out := &object{}
		for _, e := range d {
			out.elems = append(out.elems, vs.fromJSON(e))
		}
		return &value{kind: kindArray, obj: out}
	case map[string]any:
		out := &object{}
		for key, e := range d {
			if v := vs.fromJSON(e); v != nil {
				vs.set(out, key, v)
			}
		}
		return &value{kind: kindObject, obj: out}
	}
	return nil
}

// either returns a value that may be a or b, with at most maxAlternatives. It keeps a's first.
func (vs *values) either(a, b *value) *value {
	if a == nil || b == nil || a == b {
		if a == nil {
			return b
		}
		return a
	}
	out, n := a, 0
	for v := a; v != nil; v = v.alt {
		n++
	}
	for v := b; v != nil && n < maxAlternatives; v = v.alt {
		if !vs.budget.Take(n * (cost.ValueWork + len(v.text)/cost.CopiedBytes)) {
			return out
		}
		if !out.holds(v) {
			c := *v
			c.alt = out
			out = &c
			n++
		}
	}
	return out
}

// textOf returns the constant text of a value without alternatives, and charges for reading it.
func (vs *values) textOf(v *value) (string, bool) {
	if v == nil || v.alt != nil {
		return "", false
	}
	return vs.textOfOne(v)
}

// textOfOne returns the constant text of the first alternative of a value.
func (vs *values) textOfOne(v *value) (text string, ok bool) {
	switch v.kind {
	case kindText:
		text, ok = v.text, true
	case kindNumber:
		text, ok = formatNumber(v.num), true
	case kindArray:
		text, ok = vs.joined(v.obj, ",")
	}
	return text, ok && vs.budget.Take(cost.ValueWork+len(text)/cost.CopiedBytes)
}
