package flow

import (
	"slices"
	"strconv"

	"github.com/airlock-run/airlock/policy/scan/internal/cost"
)

// fold returns the result of a method of a constant string, number or array.
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
		if base, ok := intArg(c.arg(0), 10); ok && name == "toString" && base >= 2 && base <= 36 &&
			of.num == float64(int64(of.num)) {
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
			known := a.powerful() || a != nil && a.kind == kindText && name == "push"
			if last := len(elems); (known || last == 0 || elems[last-1] != nil) && last < maxElements {
				if !known {
					a = nil // what the array holds is not known
				}
				elems = append(elems, a)
			}
		}
		of.obj.elems = elems
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

// itemsVia calls a callback with the items and returns its result, or the items if there is no callback.
func (cs *calls) itemsVia(of *value, c call) *value {
	items := cs.values.itemsOf(of)
	if f := c.arg(0); f != nil && f.kind != kindNumber {
		return cs.invoke(f, call{args: []*value{items}, at: c.at, depth: c.depth})
	}
	return items
}
