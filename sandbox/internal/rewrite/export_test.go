package rewrite

import "github.com/airlock-run/airlock/sandbox/internal/wasm"

// Dispatch rewrites the indirect calls of a module that is no engine.
func Dispatch(wasmBytes []byte) ([]byte, error) { return noEngine(wasmBytes, uint64(unknown)) }

// Interpreter rewrites a module that is no engine, and whose function interpreter branches on opcodes.
func Interpreter(wasmBytes []byte, interpreter uint64) ([]byte, error) {
	return noEngine(wasmBytes, interpreter)
}

// Jumps returns how many branches of a build's interpreter look up their label.
func Jumps(wasmBytes []byte) (int, error) {
	x, err := Find(wasmBytes)
	if err != nil {
		return 0, err
	}
	found, err := jumps(x.module.Body(x.interpreter))
	return len(found), err
}

// NullishConstants returns how many constants of JS_ToObject are replaced. Without message, the build is taken for one
// in which the address of the message is not known.
func NullishConstants(wasmBytes []byte, message bool) (int, error) {
	x, err := Find(wasmBytes)
	if err != nil {
		return 0, err
	}
	if !message {
		x.quirks.nullish = -1
	}
	return len((&rewriter{Facts: x}).quirkConstants(x.quirks.toObject)), nil
}

// Mended returns how many functions are found, of those that are mended by name.
func Mended(wasmBytes []byte) (int, error) {
	x, err := Find(wasmBytes)
	if err != nil {
		return 0, err
	}
	found := len(x.libm) + len(x.mend.counting.changes) + len(x.mend.dispose) + len(x.keys.throws)
	m := x.mend
	for _, function := range []uint64{m.push.function, m.sort.function, m.escape.function, m.hash.function,
		m.stack.function, x.arrays.move, x.arrays.remove, x.titles.set, x.titles.define, x.dates.function,
		x.dates.setField, x.groups.term} {
		if function != unknown {
			found++
		}
	}
	return found, nil
}

func noEngine(wasmBytes []byte, interpreter uint64) ([]byte, error) {
	m, err := wasm.Parse(wasmBytes)
	if err != nil {
		return nil, err
	}
	none := uint64(unknown)
	x := &Facts{module: m, interpreter: interpreter, usableSize: none, throwRange: none, overflow: -1}
	x.parser = parserFacts{statement: none, expression: none, postfix: none, binary: none, note: none, opcode: -1,
		lineStart: -1}
	x.trace.backtrace = none
	x.quirks = quirkFacts{toObject: none, arguments: none, copyData: none, nullish: -1}
	x.keys = keyFacts{readOnly: none}
	x.titles = titleFacts{set: none, define: none}
	x.mend = mendFacts{push: pushFacts{function: none}, sort: sortFacts{function: none}, escape: escapeFacts{none, none},
		hash: hashFacts{function: none}}
	x.arrays = arrayFacts{move: none, remove: none}
	x.dates = dateFacts{function: none, setField: none}
	x.groups = captureFacts{term: none}
	out, _, err := Module(wasmBytes, x, 0)
	return out, err
}
