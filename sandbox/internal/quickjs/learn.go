package quickjs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// learned holds what a running guest reveals about its build. It is kept with the image.
type learned struct {
	// Kinds are the classes of objects by number (JS_CLASS_…).
	Kinds map[uint16]Kind
	// FunctionCode are the codes of scripts that make one function and do nothing else.
	FunctionCode [][]byte
	Strings      stringKinds
}

// samples are objects of the kinds that the host tells apart. The last is evaluated as a module, which sees itself.
var samples = []struct {
	kind   Kind
	source string
}{
	{KindError, "new Error('x')"},
	{KindArguments, "(function () { return arguments })(1)"},
	{KindArguments, "(function () { 'use strict'; return arguments })(1)"},
	{KindMapIterator, "new Map([[1, 2], [3, 4]]).entries()"},
	{KindSetIterator, "new Set([1]).values()"},
	{KindGenerator, "(function* () {})()"},
	{KindGenerator, "(async function* () {})()"},
	{KindWeakMap, "new WeakMap()"},
	{KindWeakSet, "new WeakSet()"},
	{KindProxy, "new Proxy({}, {})"},
	{KindPromise, "Promise.resolve(7)"},
	{KindArray, "[]"},
	{KindDate, "new Date()"},
	{KindMap, "new Map()"},
	{KindSet, "new Set()"},
	{KindRegExp, "/x/"},
	{KindArrayBuffer, "new ArrayBuffer(1)"},
	{KindSharedArrayBuffer, "new SharedArrayBuffer(1)"},
	{KindNumber, "Object(1)"},
	{KindString, "Object('x')"},
	{KindBoolean, "Object(true)"},
	{KindBigInt, "Object(1n)"},
	{KindSymbol, "Object(Symbol())"},
	{KindWeakRef, "new WeakRef({})"},
	{KindModuleNamespace, "globalThis.namespace"},
}

const (
	probeModule = "probe.js"
	probeSource = `import * as self from "probe.js"; globalThis.namespace = self;`
)

// learn runs the engine in an instance that is used for nothing else. It finds what the host must know of the build,
// and checks the statements of layout.go.
func (b *builder) learn(ctx context.Context, r *Runtime, segments []segment) (l learned, err error) {
	im := &Image{runtime: r}
	in, free, err := b.instance(ctx, im)
	if err != nil {
		return l, err
	}
	defer free()
	if err := b.boot(in, segments); err != nil {
		return l, err
	}
	if err := in.Evaluate(probeModule, probeSource, true); err != nil {
		return l, fmt.Errorf("a module that imports itself: %w", err)
	}
	if l.Kinds, err = learnKinds(in); err != nil {
		return l, err
	}
	if l.FunctionCode, err = learnFunctions(in); err != nil {
		return l, err
	}
	if l.Strings, err = learnStrings(in); err != nil {
		return l, err
	}
	im.learned = l
	return l, prove(in)
}

// valueOf returns the value of an expression. Evaluating it by itself would wait for a promise in some builds.
func valueOf(in *Instance, expression string) (Value, error) {
	f, err := in.evaluate("() => (" + expression + ")")
	if err != nil {
		return 0, err
	}
	return in.apply(f)
}

func learnKinds(in *Instance) (map[uint16]Kind, error) {
	kinds := map[uint16]Kind{}
	class := func(source string) (uint16, error) {
		v, err := valueOf(in, source)
		if err != nil || v.tag() != tagObject {
			return 0, errors.Join(err, fmt.Errorf("%s is not an object", source))
		}
		class, _ := in.mod.Memory().ReadUint16Le(uint32(v) + objClass)
		return class, nil
	}
	plain, err := class("{}")
	if err != nil {
		return nil, err
	}
	kinds[plain] = KindPlain
	for _, s := range samples {
		c, err := class(s.source)
		if err != nil {
			return nil, err
		}
		if old, ok := kinds[c]; c == 0 || ok && old != s.kind {
			return nil, fmt.Errorf("the class of %s is %d, as that of another object", s.source, c)
		}
		kinds[c] = s.kind
	}
	return kinds, nil
}

// learnFunctions compiles functions of the kinds that the host compiles. Arrow functions may use this of the script
// around them, which then stores it first, and one that calls eval may use all that there is.
func learnFunctions(in *Instance) (codes [][]byte, err error) {
	for _, head := range []string{"(function () {", "(() => {", "(async () => {"} {
		for _, body := range []string{
			"", "this", "eval('')", "this; eval('')", "return () => this", "eval(''); return () => this",
		} {
			v, err := in.evalAt(in.image.scratch.filename, head+body+"})", evalCompileOnly)
			if err != nil {
				return nil, err
			}
			code, ok := in.bytecode(v)
			if !ok || len(code) == 0 {
				return nil, fmt.Errorf("%s%s}) has no code", head, body)
			}
			if !slices.ContainsFunc(codes, func(c []byte) bool { return bytes.Equal(c, code) }) {
				codes = append(codes, bytes.Clone(code))
			}
		}
	}
	return codes, nil
}

// stringKinds is how a build marks strings whose characters are elsewhere: the mark of a slice in the word at strKind.
// It is 0 in builds without slices.
type stringKinds uint32

const (
	// With sliceKind the word has a kind of two bits. With sliceFlag it has one bit more of the hash, and a flag.
	sliceKind stringKinds = kindSlice << kindShift
	sliceFlag stringKinds = kindIndirect << kindShift
)

// kind returns the kind of a string.
func (k stringKinds) kind(word uint32) uint32 {
	switch {
	case k == sliceKind:
		return word >> kindShift & 3
	case k == sliceFlag && word&uint32(sliceFlag) != 0:
		return kindSlice
	}
	return kindNormal
}

// learnStrings finds how the build marks slices. It makes a string that builds with slices make as one and whose hash
// is not computed yet.
func learnStrings(in *Instance) (stringKinds, error) {
	v, err := in.evaluate("'x'.repeat(9000).slice(100, 8000)")
	if err != nil || v.tag() != tagString {
		return 0, errors.Join(err, errors.New("a slice of a string is not a string"))
	}
	word, _ := in.mod.Memory().ReadUint32Le(uint32(v) + strKind)
	k := stringKinds(word & (3 << kindShift))
	if k != 0 && k != sliceKind && k != sliceFlag {
		return 0, fmt.Errorf("a slice is marked with %#x", word)
	}
	return k, nil
}

// prove checks the statements of layout.go about values.
func prove(in *Instance) error {
	is := func(source, want string) error {
		v, err := in.evaluate(source)
		if err != nil {
			return fmt.Errorf("%s: %w", source, err)
		}
		if got, ok := in.Str(v, 1<<20); !ok || got != want {
			return fmt.Errorf("%.40s is read as %.40q", source, got)
		}
		return nil
	}
	long := strings.Repeat("ab", 4000)
	free := func(int) error { return nil }
	errs := []error{
		is("'airlock'", "airlock"), is("'Ω😀'", "Ω😀"),
		is("'ab'.repeat(4000).slice(100, 7000)", long[100:7000]),
		is("('é' + 'ab'.repeat(4000)).slice(101, 7001)", long[100:7000]),
		is("'ab'.repeat(2000) + 'ab'.repeat(2000)", long),
		is("(() => { let s = ''; for (let i = 0; i < 4000; i++) s += 'ab'; return s })()", long),
	}
	for source, check := range map[string]func(Value) bool{
		"Promise.resolve(7)": func(v Value) bool {
			state, result := in.PromiseResult(v)
			return state == 1 && result == Int(7)
		},
		"new Promise(() => {})": func(v Value) bool { state, _ := in.PromiseResult(v); return state == 0 },
		"new Proxy([], new Map())": func(v Value) bool {
			target, handler := in.ProxyParts(v)
			return target.tag() == tagObject && handler.tag() == tagObject && target != handler
		},
		"(() => { const p = Proxy.revocable({}, {}); p.revoke(); return p.proxy })()": func(v Value) bool {
			target, handler := in.ProxyParts(v)
			return target == Null && handler == Null
		},
		"(() => { const i = new Map([[1, 2], [3, 4], [5, 6]]).entries(); i.next(); i.next(); return i })()": func(
			v Value,
		) bool {
			of, gives, given, err := in.IteratorParts(v, free)
			return err == nil && of.tag() == tagObject && gives == 2 && given == 2
		},
		"(() => { const i = new Set([1]).values(); i.next(); i.next(); return i })()": func(v Value) bool {
			of, _, _, err := in.IteratorParts(v, free)
			return err == nil && of == Undefined
		},
	} {
		v, err := valueOf(in, source)
		if err == nil && !check(v) {
			err = errors.New("is read as something else")
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", source, err))
		}
	}
	return errors.Join(append(errs, proveContext(in))...)
}

// proveContext checks the fields of JSContext that the host sets.
func proveContext(in *Instance) error {
	in.SetRandom(42)
	if _, err := in.evaluate("Math.random()"); err != nil || in.Random() == 42 {
		return errors.Join(err, errors.New("the state of Math.random does not change"))
	}
	in.SetTimeOrigin(-5_000_000)
	v, err := in.evaluate("performance.now() === 5")
	if err != nil || v != Bool(true) {
		return errors.Join(err, errors.New("performance.now does not count from the time origin"))
	}
	before := in.ticks
	if _, err := in.evaluate("for (let i = 0; i < 50000; i++);"); err != nil || in.ticks == before {
		return errors.Join(err, errors.New("a loop is not polled"))
	}
	return nil
}
