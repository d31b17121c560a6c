package quickjs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/tetratelabs/wazero/api"

	"github.com/airlock-run/airlock/sandbox/internal/wasm"
)

type segment = wasm.Segment

// Script is one file of the library that an image is built from.
type Script struct {
	Name, Source string
}

// ImageConfig configures BuildImage.
type ImageConfig struct {
	// Library is evaluated in order. Each file must evaluate to a function; it is called with the raw host function
	// and the value that the file before it returned.
	Library []Script
	// Roots is how many functions the library hands to the host, by calling the host function with them (the last such
	// call counts), to be called later (see Image.Root).
	Roots int
	// MaxMemoryBytes is the most that any instance may be given: it is reserved as address space.
	MaxMemoryBytes uint64
	// CacheDir, when set, keeps the image between processes.
	CacheDir string
	// Hidden are global names that the engine's build defines and guests must not see.
	Hidden []string
}

// Image is a frozen guest in which the library has been evaluated. It is safe for concurrent use.
type Image struct {
	runtime *Runtime
	regions *regions
	size    uint32 // bytes of linear memory
	qctx    uint32 // JSContext*
	rt      uint32 // JSRuntime*
	scratch scratch
	roots   []Value
	learned learned
	// from is the image of the library that this one comes from; nil if it is that image.
	from *Image

	identified sync.Once
	identity   [sha256.Size]byte

	// ready holds guests made ahead. Each serves one execution like any other.
	ready      chan *Instance
	busy       chan struct{} // holds one entry for each that is being replaced in the background
	background sync.WaitGroup
}

// scratch holds addresses that are allocated while the image is built, so that a run need not allocate them.
type scratch struct {
	options, arguments, filename, source, job uint32
}

const (
	sourceRoom  = 8 << 10
	optionsSize = 20
	// ScriptName is the file name that guest code has in stack traces.
	ScriptName = "script.js"

	buildMemory = 64 << 20
)

// moduleNames are the engine's own modules. Their names are overwritten in the image, so no import finds them.
var moduleNames = [...]string{"qjs:std", "qjs:os", "qjs:bjson"}

// BuildImage evaluates the library in a fresh guest and freezes the result, or loads what an earlier process froze.
// Close the image before the runtime.
func (r *Runtime) BuildImage(ctx context.Context, cfg ImageConfig) (*Image, error) {
	ahead := runtime.GOMAXPROCS(0)
	im := &Image{runtime: r, ready: make(chan *Instance, ahead), busy: make(chan struct{}, ahead)}
	path := r.cachePath(cfg)
	if path != "" {
		if err := im.thaw(path, cfg); err == nil {
			return im, nil
		}
		*im = Image{runtime: r, ready: im.ready, busy: im.busy} // damaged or of another shape: build and replace it
	}
	original, err := r.build.module()
	if err != nil {
		return nil, err
	}
	module, err := wasm.Parse(original)
	if err != nil {
		return nil, err
	}
	b := &builder{exports: module.Exports}
	if im.learned, err = b.learn(ctx, r, module.Data); err != nil {
		return nil, fmt.Errorf("probe engine build %s: %w", r.build.Name, err)
	}
	in, free, err := b.instance(ctx, im)
	if err != nil {
		return nil, err
	}
	defer free()
	mem := in.memory.mem
	if err := b.build(in, module.Data, cfg); err != nil {
		return nil, fmt.Errorf("build image: %w", err)
	}
	im.size = in.mod.Memory().Size()
	memory := mem[:im.size]
	for _, name := range moduleNames {
		hide(memory, name)
	}
	if path != "" {
		if file, err := im.encode(memory); err == nil {
			_ = writeKept(path, file) // without it every start takes longer, and nothing else
		}
	}
	back, err := newBacking(bytes.NewReader(memory), uint64(len(memory)))
	if err != nil {
		return im, err
	}
	im.freeze(back, cfg)
	return im, nil
}

// freeze sets the memory that every instance starts with.
func (im *Image) freeze(back *backing, cfg ImageConfig) {
	im.regions = &regions{image: back, reserve: max(cfg.MaxMemoryBytes, uint64(im.size))}
}

// Close releases the image's memory. Instances must have been closed before.
func (im *Image) Close() error {
	im.settle()
	if im.regions == nil { // freeze failed
		return nil
	}
	return im.regions.close()
}

// settle waits for background work and drops the guests made ahead.
func (im *Image) settle() {
	im.background.Wait()
	for {
		select {
		case in := <-im.ready:
			in.drop()
		default:
			return
		}
	}
}

// Size returns the linear memory that every instance starts with, in bytes.
func (im *Image) Size() uint64 { return uint64(im.size) }

// Root returns the i'th of the functions that the library left for the host.
func (im *Image) Root(i int) Value { return im.roots[i] }

// hide overwrites every occurrence of name with bytes that no source text can spell: 0xFF stands nowhere in UTF-8,
// and a string of U+00FF has another hash than the one that the engine keeps beside the name. The bytes are the same
// each time, so that an image depends only on what it is built from.
func hide(mem []byte, name string) {
	for i := 0; ; {
		k := bytes.Index(mem[i:], []byte(name))
		if k < 0 {
			return
		}
		i += k
		copy(mem[i:], bytes.Repeat([]byte{0xFF}, len(name)))
	}
}

// builder is the host while an image is built.
type builder struct {
	exports  map[string]uint64
	captured Args
}

// instance makes an instance with memory of its own. free releases it.
func (b *builder) instance(ctx context.Context, im *Image) (in *Instance, free func(), err error) {
	mem, err := anonymous(buildMemory)
	if err != nil {
		return nil, nil, err
	}
	unmap := func() { _ = unmapRange(mem) } // there is no way to recover
	if in, err = im.runtime.instantiate(ctx, &region{mem: mem, cap: buildMemory}); err != nil {
		unmap()
		return nil, nil, err
	}
	in.host, in.image = b, im
	return in, func() { in.drop(); unmap() }, nil
}

// Now returns the epoch: an image must not depend on when it was built.
func (b *builder) Now() time.Duration { return 0 }

// Word keeps messages unchanged.
func (b *builder) Word(*Instance, string, string) (string, bool) { return "", false }

// Trace keeps frames unchanged.
func (b *builder) Trace(_ *Instance, frames string) (string, error) { return "\n" + frames, nil }

// Rejected does nothing: rejections do not matter while an image is built.
func (b *builder) Rejected(*Instance, Value, bool) {}

// MemoryRefused returns an error. Only the size of the image limits the builder's memory.
func (b *builder) MemoryRefused() error { return errors.New("the library does not fit into memory") }

// Poll lets the library continue.
func (b *builder) Poll(*Instance) error { return nil }

// Call keeps the functions that the library hands over last, its roots. Each gets a reference that is never dropped.
func (b *builder) Call(in *Instance, args Args) (Value, error) {
	b.captured = args
	for _, v := range args {
		if v.tag() != tagObject {
			continue
		}
		in.duplicate(v)
	}
	return Undefined, nil
}

// captureRaw takes the engine's host function out of the wrapper that some builds put around it. The wrapper calls
// proxy.call(this, …), so Function.prototype.call is replaced for that one call.
const captureRaw = `wrapper => {
	const call = Function.prototype.call;
	let raw;
	Function.prototype.call = function () { raw = this; };
	try { wrapper(); } finally { Function.prototype.call = call; }
	return raw;
}`

func (b *builder) build(in *Instance, segments []segment, cfg ImageConfig) error {
	if err := b.boot(in, segments); err != nil {
		return err
	}
	if err := b.library(in, cfg); err != nil {
		return err
	}
	for _, name := range cfg.Hidden {
		if _, err := in.evaluate(fmt.Sprintf("delete globalThis[%q]", name)); err != nil {
			return err
		}
	}
	return nil
}

// boot fills memory and makes the engine's runtime and context.
func (b *builder) boot(in *Instance, segments []segment) (err error) {
	memory, im := in.mod.Memory(), in.image
	for _, s := range segments {
		if !memory.Write(s.Offset, s.Data) {
			return errors.New("a data segment lies outside memory")
		}
	}
	if im.qctx, err = b.context(in); err != nil {
		return err
	}
	im.rt, _ = memory.ReadUint32Le(im.qctx + im.runtime.facts.CtxRuntime)
	im.control(memory)
	return b.allocate(in)
}

// context makes a JSRuntime and a JSContext.
func (b *builder) context(in *Instance) (uint32, error) {
	make, get, params := "JS_NewRuntime", "JS_NewContext", []uint64(nil)
	if _, ok := b.exports[make]; !ok {
		make, get, params = "New_QJS", "QJS_GetContext", []uint64{0, 0, 0, 0}
	}
	of, err := in.invokeName(make, params...)
	if err != nil {
		return 0, err
	}
	c, err := in.invokeName(get, uint64(of))
	if err == nil && c == 0 {
		err = errors.New("no memory for a context")
	}
	return uint32(c), err
}

// control sets the fields that stop a guest.
func (im *Image) control(memory api.Memory) {
	f := im.runtime.facts
	memory.WriteUint32Le(im.qctx+f.CtxInterruptCounter, f.InterruptInterval)
	memory.WriteUint32Le(im.rt+f.RtStackLimit, f.StackLimit)
	memory.WriteUint32Le(im.rt+f.RtInterruptHandler, f.InterruptEntry)
	memory.WriteUint32Le(im.rt+f.RtRejectionTracker, f.InterruptEntry) // any: track is called, whatever it is
}

func (b *builder) allocate(in *Instance) error {
	s := &in.image.scratch
	for _, a := range []struct {
		addr *uint32
		size uint64
	}{{&s.options, optionsSize}, {&s.arguments, 8 * maxArgs}, {&s.filename, uint64(len(ScriptName) + 1)},
		{&s.source, sourceRoom}, {&s.job, 4}} {
		p, err := in.invokeName("malloc", a.size)
		if err != nil || p == 0 {
			return errors.Join(err, errors.New("no memory for scratch space"))
		}
		*a.addr = uint32(p)
	}
	in.mod.Memory().WriteString(s.filename, ScriptName+"\x00")
	return nil
}

func (b *builder) library(in *Instance, cfg ImageConfig) error {
	raw, err := b.hostFunction(in)
	if err != nil {
		return err
	}
	last := Undefined
	for _, file := range cfg.Library {
		f, err := in.evaluateAs(file.Name, file.Source)
		if err != nil {
			return fmt.Errorf("%s: %w", file.Name, err)
		}
		if last, err = in.apply(f, raw, last); err != nil {
			return fmt.Errorf("%s: %w", file.Name, err)
		}
	}
	for i := range cfg.Roots {
		root := b.captured[i]
		if root.tag() != tagObject {
			return fmt.Errorf("root %d is not a function", i)
		}
		in.image.roots = append(in.image.roots, root)
	}
	return nil
}

// hostFunction makes the JavaScript function through which the library reaches the host.
func (b *builder) hostFunction(in *Instance) (Value, error) {
	if _, ok := b.exports["JS_NewCFunction2"]; ok {
		const arguments, generic, magic = 0, 0, 0
		name, err := in.alloc([]byte{0})
		if err != nil {
			return 0, err
		}
		return in.invokeName("JS_NewCFunction2", uint64(in.image.qctx), uint64(in.image.runtime.facts.HostCallEntry),
			uint64(name), arguments, generic, magic)
	}
	wrapper, err := in.invokeName("QJS_CreateFunctionProxy", uint64(in.image.qctx), 0, 0, 0)
	if err != nil {
		return 0, err
	}
	capture, err := in.evaluate("(" + captureRaw + ")")
	if err != nil {
		return 0, err
	}
	return in.apply(capture, wrapper)
}
