package flow

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/airlock-run/airlock/policy/scan/internal/cost"
)

// concat gives a + b.
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
	return out
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

// fold gives the result of a method of a constant string, number or array.
func (cs *calls) fold(of *value, name string, c call) *value {
	if of.alt != nil {
		one := *of
		one.alt = nil
		of = &one
	}
	switch of.kind {
	case kindArray:
		return cs.foldArray(of, name, c)
	case kindNumber:
		if base, ok := intArg(c.arg(0), 10); ok && name == "toString" && base >= 2 && base <= 36 && of.num == float64(int64(of.num)) {
			return textValue(strconv.FormatInt(int64(of.num), base))
		}
		return nil
	}
	if !cs.budget.Take(cost.ValueWork + len(of.text)/cost.TextBytes) {
		return nil
	}
	if out := cs.values.foldText(of.text, name, c); out != nil && cs.budget.Take(len(out.text)/cost.TextBytes) {
		out.decoded, out.coded = of.decoded, of.coded
		if out.kind == kindArray {
			for _, e := range out.obj.elems {
				e.decoded, e.coded = of.decoded, of.coded
			}
		}
		return out
	}
	if of.isDecoded() {
		return &value{kind: kindDecoded}
	}
	return nil
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

// replaced gives what replacing a pattern's matches gives, where Go reads the pattern as JavaScript does: it runs in linear
// time.
func (vs *values) replaced(s string, pattern *value, with string) *value {
	vs.patterns++
	if vs.patterns > maxPatterns || !vs.budget.Take(cost.PatternWork) || len(pattern.text) > 60 || len(s) > 256 || strings.ContainsRune(with, '$') || strings.ContainsRune(pattern.text, '{') {
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

func (cs *calls) foldArray(of *value, name string, c call) *value {
	elems := of.obj.elems
	if !cs.budget.Take(cost.ValueWork + len(elems)) {
		return nil
	}
	switch name {
	case "join", "toString":
		sep := ","
		if name == "join" && len(c.args) > 0 {
			s, ok := cs.values.textOf(c.args[0])
			if !ok {
				return nil
			}
			sep = s
		}
		if s, ok := cs.values.joined(of.obj, sep); ok {
			decoded := slices.ContainsFunc(elems, func(e *value) bool { return e.isDecoded() })
			return &value{kind: kindText, text: s, decoded: decoded}
		}
		if slices.ContainsFunc(elems, func(e *value) bool { return e.isDecoded() }) {
			return &value{kind: kindDecoded}
		}
	case "reverse", "toReversed":
		out := slices.Clone(elems)
		slices.Reverse(out)
		return &value{kind: kindArray, obj: &object{elems: out}}
	case "concat":
		out := slices.Clone(elems)
		for _, a := range c.args {
			if a != nil && a.kind == kindArray {
				out = append(out, a.obj.elems...)
			} else {
				out = append(out, a)
			}
		}
		if len(out) <= maxElements {
			return &value{kind: kindArray, obj: &object{elems: out}}
		}
	case "slice":
		return of
	case "at", "pop", "shift", "find", "reduce":
		return cs.itemsVia(of, c)
	case "push", "unshift":
		for _, a := range c.args {
			if a.powerful() && len(of.obj.elems) < maxElements {
				of.obj.elems = append(of.obj.elems, a)
			}
		}
	case "map", "forEach", "filter", "some", "every", "flatMap":
		ret := cs.itemsVia(of, c)
		if name == "map" && ret != nil {
			return &value{kind: kindArray, obj: &object{elems: []*value{ret}}}
		}
		if name == "filter" {
			return of
		}
	}
	return nil
}

// itemsVia hands the items to a callback and gives what it returns, or the items when there is none.
func (cs *calls) itemsVia(of *value, c call) *value {
	items := cs.values.itemsOf(of)
	if f := c.arg(0); f != nil && f.kind != kindNumber {
		return cs.invoke(f, call{args: []*value{items}, at: c.at, depth: c.depth})
	}
	return items
}
