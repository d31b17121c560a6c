package rewrite

import (
	"fmt"

	"github.com/airlock-run/airlock/sandbox/internal/wasm"
)

// PageSize is the size of a page of WebAssembly memory, in bytes.
const PageSize = 65536

// The host functions that the rewriting adds to a module's imports.
const (
	HostModule = "airlock"
	// HostPoll is poll(kind i32): the guest calls the host. The kinds are PollFuel and the others below.
	HostPoll = "poll"
	// HostCall is call(ctx i32, this i64, argc i32, argv i32) i64, the one function through which JavaScript reaches the
	// host. Traced, Tracked and Dated in argc tell apart the calls that the rewriting makes itself.
	HostCall = "call"

	addedImports = 2
)

// The reasons of a poll.
const (
	PollFuel          = 0 // a loop of the engine has run for an interval
	PollInterrupt     = 1 // interpreted code has run for an interval
	PollStackOverflow = 2 // a RangeError for an exhausted stack has just been thrown
)

// StackPages is the size of the C stack, which is put above the module's own memory. With a megabyte the engine's own
// check throws a RangeError (at some 3,600 plain frames) before wazero's call stack overflows.
const StackPages = 16

// stackMargin is how much of the stack is kept for C functions that do not check.
const stackMargin = 64 << 10

// rewriter is one rewriting of a module.
type rewriter struct {
	*Facts
	fuel  int64
	calls *dispatch
	notes positions
	loops int
}

// Module rewrites wasm, whose facts are facts. fuel is the number of loop headers between two polls; 0 leaves fuel out,
// which only benchmarks want. loops is the number of loop headers that count fuel.
func Module(wasmBytes []byte, facts *Facts, fuel int64) (out []byte, loops int, err error) {
	sections, err := wasm.Sections(wasmBytes)
	if err != nil {
		return nil, 0, err
	}
	calls, err := facts.dispatch()
	if err != nil {
		return nil, 0, err
	}
	w := &rewriter{Facts: facts, fuel: fuel, calls: calls}
	w.notes = positions{rewriter: w}
	out = []byte(wasm.Header)
	for _, s := range sections {
		body, err := w.section(s)
		if err != nil {
			return nil, 0, fmt.Errorf("section %d: %w", s.ID, err)
		}
		if body != nil {
			out = wasm.AppendSection(out, s.ID, body)
		}
	}
	return out, w.loops, nil
}

// section returns the new body of a section, or nil to leave it out.
func (w *rewriter) section(s wasm.Section) (body []byte, err error) {
	m := w.module
	switch s.ID {
	case wasm.SectionType:
		return appendEntries(s.Body, w.addedTypes())
	case wasm.SectionImport:
		return appendEntries(s.Body, w.addedImports())
	case wasm.SectionFunction:
		return appendEntries(s.Body, w.addedFunctions())
	case wasm.SectionMemory:
		// No maximum: the allocator refuses growth past each execution's own cap.
		return wasm.AppendUint([]byte{1, 0}, m.Pages+StackPages), nil
	case wasm.SectionGlobal:
		return w.globals(), nil
	case wasm.SectionExport:
		return w.exports(), nil
	case wasm.SectionCode:
		return w.code()
	}
	// Debug information slows every load; the code has no memory.init; dispatchers replace the table.
	return nil, nil
}

// appendEntries appends entries to a section that is a vector.
func appendEntries(body []byte, entries [][]byte) ([]byte, error) {
	r := &wasm.Reader{B: body}
	n := r.Uint()
	if r.Err != nil {
		return nil, r.Err
	}
	out := append(wasm.AppendUint(nil, n+uint64(len(entries))), body[r.Pos:]...)
	for _, e := range entries {
		out = append(out, e...)
	}
	return out, nil
}

// moved returns the index that a function of the original module has in the new one.
func (w *rewriter) moved(function uint64) uint64 {
	if function < w.module.Imported() {
		return function
	}
	return function + addedImports
}

// poll returns the index of the poll.
func (w *rewriter) poll() uint64     { return w.module.Imported() }
func (w *rewriter) hostCall() uint64 { return w.module.Imported() + 1 }

// Functions that the rewriting adds, in their order. The dispatchers follow.
const (
	addedEnter     = iota
	addedInterrupt // what the engine calls to ask whether to go on: a poll
	addedHostCall  // the JSCFunction through which JavaScript reaches the host
	addedRemember
	addedNoteCall
	addedParse
	addedTrace
	addedTrack
	addedCopyData
	addedEscape
	addedRoot
	addedMove
	addedRemove
	addedTitleSet
	addedTitleDefine
	addedDate
	addedField
	addedGroup
	addedCount
)

// added returns the index of a function that the rewriting adds.
func (w *rewriter) added(i int) uint64 {
	return addedImports + w.module.Imported() + uint64(len(w.module.Functions)) + uint64(i)
}

// addedSignatures are the types of the added functions.
var addedSignatures = [addedCount]string{
	addedEnter:       signature(enterParams, "l"),
	addedInterrupt:   signature("ii", "i"),
	addedHostCall:    signature(typeFunction, "l"),
	addedRemember:    signature("i", ""),
	addedNoteCall:    signature("i", ""),
	addedParse:       signature("ii", "i"),
	addedTrace:       signature("iiili", "l"),
	addedTrack:       signature(typeTracker, ""),
	addedCopyData:    signature(typeCopyData, "i"),
	addedEscape:      signature(typeFunction, "l"),
	addedRoot:        signature("i", "i"),
	addedTitleSet:    signature(typeSet, "i"),
	addedTitleDefine: signature(typeDefine, "i"),
	addedDate:        signature(typeFunction, "l"),
	addedField:       signature(typeField, "l"),
	addedGroup:       signature("ii", "i"),
	addedMove:        signature(typeMove, "i"),
	addedRemove:      signature(typeRemove, "i"),
}

// addedTypes returns the types of host functions, added functions and dispatchers.
func (w *rewriter) addedTypes() (types [][]byte) {
	add := func(encoded string) { types = append(types, append([]byte{wasm.TypeFunc}, encoded...)) }
	add(signature("i", ""))
	add(signature(typeFunction, "l"))
	for _, s := range addedSignatures {
		add(s)
	}
	for _, d := range w.calls.functions {
		add(d.signature())
	}
	return types
}

func (w *rewriter) addedImports() [][]byte {
	entry := func(name string, i int) []byte {
		b := wasm.AppendBlock(wasm.AppendBlock(nil, []byte(HostModule)), []byte(name))
		return wasm.AppendUint(append(b, 0), uint64(len(w.module.Types)+i))
	}
	return [][]byte{entry(HostPoll, 0), entry(HostCall, 1)}
}

func (w *rewriter) addedFunctions() (kinds [][]byte) {
	for i := range addedCount + len(w.calls.functions) {
		kinds = append(kinds, wasm.AppendUint(nil, uint64(len(w.module.Types)+addedImports+i)))
	}
	return kinds
}

// Globals that the rewriting adds, after the module's own.
const (
	globalFuel = iota
	globalScratch
	globalNoteFunction // what the last note of a position was: the function that was compiled, and where
	globalNoteLine
	globalNoteColumn
	globalNoteOfCall // whether it was of a call
	globalFormat     // what is added to the address of the format of JS_ThrowTypeErrorReadOnly
	globalTitling    // whether a name or a message of an error is being set
	globalCount
)

// global returns the index of an added global.
func (w *rewriter) global(i int) byte { return byte(len(w.module.Globals) + i) }

// globals returns the new global section. The first global is the stack pointer, which starts at the top of its own
// pages.
func (w *rewriter) globals() []byte {
	body := wasm.AppendUint(nil, uint64(len(w.module.Globals)+globalCount))
	for i, g := range w.module.Globals {
		mutable, op := byte(0), byte(wasm.I32Const)
		if g.Mutable {
			mutable = 1
		}
		if g.Type == wasm.TypeI64 {
			op = wasm.I64Const
		}
		if i == 0 {
			g.Initial = int64(w.StackTop)
		}
		body = append(wasm.AppendInt(append(body, g.Type, mutable, op), g.Initial), wasm.End)
	}
	for i := range globalCount {
		initial := int64(0)
		if i == globalFuel {
			initial = w.fuel
		}
		body = append(wasm.AppendInt(append(body, wasm.TypeI32, 1, wasm.I32Const), initial), wasm.End)
	}
	return body
}

// exports returns the new export section: the memory, the functions at their new indices, and Enter.
func (w *rewriter) exports() []byte {
	names := sortedKeys(w.module.Exports)
	body := wasm.AppendUint(nil, uint64(len(names)+2))
	body = append(wasm.AppendBlock(body, []byte("memory")), 2, 0)
	for _, name := range names {
		body = wasm.AppendUint(append(wasm.AppendBlock(body, []byte(name)), 0), w.moved(w.module.Exports[name]))
	}
	return wasm.AppendUint(append(wasm.AppendBlock(body, []byte(Enter)), 0), w.added(addedEnter))
}
