package rewrite

import "github.com/airlock-run/airlock/sandbox/internal/wasm"

// Dispatch rewrites the indirect calls of a module that is no engine.
func Dispatch(wasmBytes []byte) ([]byte, error) {
	m, err := wasm.Parse(wasmBytes)
	if err != nil {
		return nil, err
	}
	none := uint64(unknown)
	x := &Facts{module: m, interpreter: none, usableSize: none, throwRange: none, overflow: -1}
	x.parser = parserFacts{statement: none, expression: none, postfix: none, binary: none, note: none, opcode: -1}
	x.trace.backtrace = none
	out, _, err := Module(wasmBytes, x, 0)
	return out, err
}
