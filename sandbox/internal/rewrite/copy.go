package rewrite

import (
	"fmt"

	"github.com/airlock-run/airlock/sandbox/internal/wasm"
)

// bulkShift: 64 bytes that memory.copy or memory.fill moves cost one unit of fuel.
const bulkShift = 6

// code returns the new code section.
func (w *rewriter) code() ([]byte, error) {
	added, replaced := w.addedBodies(), w.libmBodies()
	out := wasm.AppendUint(nil, uint64(len(w.module.Bodies)+len(added)))
	for i, body := range w.module.Bodies {
		function := uint64(i) + w.module.Imported()
		var err error
		if other, ok := replaced[function]; ok {
			body = other
		} else if body, err = w.function(function, body); err != nil {
			return nil, fmt.Errorf("function %d: %w", function, err)
		}
		switch function { // others stand before these
		case w.parser.expression:
			body, added[addedParse] = w.notes.parseBody(), body
		case w.quirks.copyData:
			body, added[addedCopyData] = w.copyDataBody(), body
		case w.mend.escape.function:
			body, added[addedEscape] = w.escapeBody(), body
		case w.dates.function:
			body, added[addedDate] = w.dates.body(w), body
		case w.dates.setField:
			body, added[addedField] = w.dates.fieldBody(w), body
		case w.arrays.remove:
			body, added[addedRemove] = w.removeBody(), body
		case w.arrays.move:
			body, added[addedMove] = w.moveBody(), body
		}
		out = wasm.AppendBlock(out, body)
	}
	for _, body := range added {
		out = wasm.AppendBlock(out, body)
	}
	return out, nil
}

// addedBodies returns the bodies of the added functions. That of addedParse is set later.
func (w *rewriter) addedBodies() [][]byte {
	bodies := make([][]byte, addedCount, addedCount+len(w.calls.functions))
	for i := range bodies {
		bodies[i] = w.assemble().op(wasm.Unreachable).end()
	}
	if w.engine {
		bodies[addedEnter] = w.enterBody()
		bodies[addedRemember] = w.notes.rememberBody()
		bodies[addedNoteCall] = w.notes.noteCallBody()
		bodies[addedTrace] = w.traceBody()
		bodies[addedTrack] = w.trackBody()
		bodies[addedRoot] = w.rootBody()
		bodies[addedGroup] = w.groups.body(w)
		if w.titles.set != unknown {
			bodies[addedTitleSet] = w.titleBody(w.titles.set, uint64(len(typeSet)))
			bodies[addedTitleDefine] = w.titleBody(w.titles.define, uint64(len(typeDefine)))
		}
	}
	bodies[addedInterrupt] = w.assemble().poll(PollInterrupt).i32(0).end()
	bodies[addedHostCall] = w.assemble().get(0).get(1).get(2).get(3).call(w.hostCall()).end()
	for _, d := range w.calls.functions {
		bodies = append(bodies, d.body(w))
	}
	return bodies
}

// usableSizeBody reads the size of an allocation from the head that dlmalloc keeps in front of it, and subtracts
// dlmalloc's own: a word, and another that only some builds use. The engine decides by the bytes in use when to
// collect garbage; with the stub of WASI builds it would count eight for each allocation.
func (w *rewriter) usableSizeBody() []byte {
	const load, flags, own = 4, -8, 8 // the low bits of the head are flags
	a := w.assemble().get(0).ifResult(wasm.TypeI32)
	a.get(0).i32(load).op(wasm.I32Sub).load(0).i32(flags).op(wasm.I32And).i32(own).op(wasm.I32Sub)
	return a.op(wasm.Else).i32(0).op(wasm.End).end()
}

// edits are what is inserted into a function, besides what is inserted everywhere.
type edits struct {
	begin []byte // at the beginning
	loop  []byte // at each loop header
	// note is inserted before a position note that the compiler has inlined into the function.
	note []byte
	last bool // the note has the position of the token before
	// callAt holds what replaces single calls, by where they start.
	callAt map[int][]byte
	// constants hold what replaces i32 constants, by their value, and constantAt by where they start.
	constants  map[int64][]byte
	constantAt map[int][]byte
	// jumps are the branches that lose the look-up of their label, by where they end.
	jumps map[int]jump
	// after holds what is inserted after single comparisons, by where they end.
	after map[int][]byte
}

// function returns the new body of a function.
func (w *rewriter) function(function uint64, body []byte) ([]byte, error) {
	if function == w.usableSize {
		return w.usableSizeBody(), nil
	}
	e := w.notes.at(function)
	e.constants = w.quirkConstants(function)
	w.mended(function, &e)
	w.titled(function, &e)
	w.groups.edit(w, function, &e)
	locals, err := w.keyed(function, body, &e)
	if err != nil {
		return nil, err
	}
	if w.fuel > 0 && function != w.interpreter {
		e.loop = w.tick()
	}
	if function == w.trace.backtrace {
		return w.backtrace(body, e)
	}
	if function == w.interpreter {
		if e.jumps, err = jumps(body); err != nil {
			return nil, err
		}
	}
	return w.copy(body, e, locals)
}

// copier copies the instructions of one function, with changes.
type copier struct {
	*rewriter
	edits
	body, out   []byte
	copied      int
	loads       int  // of a note's position, which are to be replaced
	overflowing bool // between the message of a stack overflow and the call that throws it
}

// put writes b in place of the bytes from at up to to.
func (c *copier) put(at, to int, b []byte) {
	c.out = append(append(c.out, c.body[c.copied:at]...), b...)
	c.copied = to
}

// copy returns body with edits e. locals, which may be nil, replaces the declarations of its locals.
func (w *rewriter) copy(body []byte, e edits, locals []byte) ([]byte, error) {
	start, err := wasm.Locals(body)
	if err != nil {
		return nil, err
	}
	c := &copier{rewriter: w, edits: e, body: body, out: make([]byte, 0, len(body)+len(body)/8), copied: start}
	if locals == nil {
		locals = body[:start]
	}
	c.out = append(append(c.out, locals...), e.begin...)
	r := &wasm.Reader{B: body, Pos: start}
	for r.More() {
		i, err := wasm.Next(r)
		if err != nil {
			return nil, err
		}
		if err := c.instruction(i); err != nil {
			return nil, err
		}
	}
	return append(c.out, body[c.copied:]...), r.Err
}

func (c *copier) instruction(i wasm.Instruction) error {
	switch i.Op {
	case wasm.MemoryBulk:
		if c.loop != nil {
			c.put(i.Start, i.Start, c.charge())
		}
	case wasm.Loop:
		if c.loop != nil {
			c.put(i.End, i.End, c.loop)
			c.loops++
		}
	case wasm.Indirect:
		replaced, err := c.indirect(i.Imm)
		if err != nil {
			return err
		}
		c.put(i.Start, i.End, replaced)
	case wasm.I32Const:
		c.constant(i)
	case wasm.I32LtU, wasm.I64Eq, wasm.I64LtU:
		if inserted, ok := c.after[i.End]; ok {
			c.put(i.End, i.End, inserted)
		}
	case wasm.I32Load:
		if c.loads > 0 && (i.Imm == parseLine || i.Imm == parseColumn) {
			c.loads--
			c.put(i.Start, i.End, c.assemble().load(lastToken(i.Imm)).bytes())
		}
	case wasm.BrTable:
		if j, ok := c.jumps[i.End]; ok {
			replaced, err := j.direct(c.module, c.body[i.Start:i.End])
			if err != nil {
				return err
			}
			c.put(j.start, i.End, replaced)
		}
	case wasm.Call:
		c.direct(i)
	}
	return nil
}

func (c *copier) constant(i wasm.Instruction) {
	replaced, ok := c.constants[i.Imm]
	if !ok {
		replaced, ok = c.constantAt[i.Start]
	}
	if ok {
		c.put(i.Start, i.End, replaced)
		return
	}
	switch {
	case i.Imm == c.overflow:
		c.overflowing = true
	case c.note != nil && i.Imm == c.parser.opcode:
		c.put(i.Start, i.Start, c.note)
		if c.last {
			c.loads = 2
		}
	}
}

// direct copies a call and adjusts the index of its function.
func (c *copier) direct(i wasm.Instruction) {
	function := uint64(i.Imm)
	if replaced, ok := c.callAt[i.Start]; ok {
		c.put(i.Start, i.End, replaced)
		return
	}
	a := c.assemble().call(c.moved(function))
	if c.overflowing {
		c.overflowing = false
		if function == c.throwRange {
			a.poll(PollStackOverflow)
		}
	}
	if code := a.bytes(); string(code) != string(c.body[i.Start:i.End]) {
		c.put(i.Start, i.End, code)
	}
}

// indirect returns what replaces an indirect call of a type.
func (c *copier) indirect(kind int64) ([]byte, error) {
	if kind < 0 || kind >= int64(len(c.module.Types)) {
		return nil, errTypes
	}
	encoded := c.module.Types[kind].Encoded
	if encoded == signature(typeTracker, "") {
		return c.assemble().op(wasm.Drop).call(c.added(addedTrack)).bytes(), nil
	}
	i, ok := c.calls.byType[encoded]
	if !ok {
		return []byte{wasm.Unreachable}, nil
	}
	return c.assemble().call(c.added(addedCount + i)).bytes(), nil
}

// tick counts one loop header: fuel -= 1; if fuel <= 0 { poll(); fuel = interval }.
func (w *rewriter) tick() []byte {
	a := w.assemble()
	a.getGlobal(globalFuel).i32(1).op(wasm.I32Sub).setGlobal(globalFuel)
	a.getGlobal(globalFuel).i32(0).op(wasm.I32LeS).ifThen()
	return a.poll(PollFuel).i32(w.fuel).setGlobal(globalFuel).op(wasm.End).bytes()
}

// charge subtracts the length on top of the operand stack from the fuel and leaves it there.
func (w *rewriter) charge() []byte {
	a := w.assemble().setGlobal(globalScratch).getGlobal(globalFuel).getGlobal(globalScratch)
	return a.i32(bulkShift).op(wasm.I32ShrU).op(wasm.I32Sub).setGlobal(globalFuel).getGlobal(globalScratch).bytes()
}
