package quickjs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tetratelabs/wazero"
)

// wazero finds compiled code by the hash of the module's bytes, and decodes and checks every function of the module first,
// for half of what a start takes, although the code that it then loads was made from them long ago. So a start that finds
// compiled code gives wazero a shell: the rewritten module with its types, functions, globals and exports, and nothing in
// the functions. The cache folder holds the shell, and the code of the rewritten module under the shell's name:
//
//	engine-<hash of the rewritten module>   the shell
//	wazero-<version>-<system>/<key>         the compiled code, in wazero's own form; the key has the shell's hash in it
//
// The shell names the module whose it is, so that no other module's code is found by it. When wazero finds no code, because it
// was deleted or is another processor's, it compiles the shell: the mark that enter answers with is missing then, and the module
// itself is compiled, as it is at the first start.

// mark is what enter answers with when it is asked for nothing that it knows: a shell's answers 0.
const mark = 0x6b636f6c726961 // "airlock"

const (
	shellFile    = "engine-"
	shellSection = "airlock"
)

var errShell = errors.New("the code that was found is not the engine's")

// shell gives module without its code. The code section of module must be valid.
func shell(module []byte) ([]byte, error) {
	r := &reader{b: module, pos: len(wasmHeader)}
	sum := sha256.Sum256(module)
	out := append([]byte(nil), wasmHeader...)
	section := func(id byte, body []byte) {
		out = appendUint(append(out, id), uint64(len(body)))
		out = append(out, body...)
	}
	section(sectionCustom, append(append([]byte{byte(len(shellSection))}, shellSection...), sum[:]...))
	for r.pos < len(r.b) && r.err == nil {
		id := r.byte()
		body := r.bytes(r.uint())
		if r.err == nil && id == sectionCode {
			code := &reader{b: body}
			n := code.uint()
			if n > uint64(len(body)) || code.err != nil {
				return nil, errTruncated
			}
			body = appendUint(nil, n)
			for range n {
				body = append(body, 3, 0, opUnreachable, opEnd) // a length, no locals
			}
		}
		section(id, body)
	}
	return out, r.err
}

// loadShell takes the compiled code from the cache folder. An error says why it cannot be had from there.
func loadShell(ctx context.Context, dir string) (*Runtime, error) {
	module, err := readKept(shellPath(dir))
	if err != nil {
		return nil, err
	}
	r := &Runtime{sum: rewrittenSum()}
	if err = r.load(ctx, dir, module); err == nil {
		err = r.hasMark(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, r.Close(ctx))
	}
	return r, nil
}

func shellPath(dir string) string { return filepath.Join(dir, shellFile+rewrittenSHA256[:32]) }

// hasMark tells whether the compiled code is the rewritten module's.
func (r *Runtime) hasMark(ctx context.Context) error {
	mem, err := anonymous(markMemory)
	if err != nil {
		return err
	}
	defer func() { _ = unmapRange(mem) }() // nothing can be done about it
	in, err := r.instantiate(ctx, &region{mem: mem, cap: markMemory})
	if err != nil {
		return err
	}
	defer in.drop()
	if v, err := in.enter(enterMark, 0, 0, 0, 0, 0); err != nil || v != mark {
		return errors.Join(errShell, err)
	}
	return nil
}

// markMemory is the memory that the module begins with.
const markMemory = (originalPages + stackPages) * pageSize

// compileInto compiles module and has the cache folder bring its code to later starts. A folder that cannot be written costs
// them time; it costs this one nothing.
func (r *Runtime) compileInto(ctx context.Context, dir string, module []byte) error {
	work, err := os.MkdirTemp(dir, ".engine-")
	if err != nil {
		return r.load(ctx, "", module)
	}
	defer func() { _ = os.RemoveAll(work) }() // what is left is in nobody's way
	code := filepath.Join(work, "code")
	if err := r.load(ctx, code, module); err != nil {
		return err
	}
	_ = keepCode(ctx, dir, code, filepath.Join(work, "shell"), module)
	return nil
}

// keepCode moves the one file that wazero wrote below code to where it will look for the shell's.
func keepCode(ctx context.Context, dir, code, empty string, module []byte) error {
	hollow, err := shell(module)
	if err != nil {
		return err
	}
	var l Runtime
	if err := errors.Join(l.load(ctx, empty, hollow), l.Close(ctx)); err != nil {
		return err
	}
	from, err := onlyFile(code)
	if err != nil {
		return err
	}
	name, err := onlyFile(empty)
	if err != nil {
		return err
	}
	to := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(code, from), to); err != nil {
		return err
	}
	return writeKept(shellPath(dir), hollow)
}

// onlyFile gives the path below dir of the one file in the one folder there.
func onlyFile(dir string) (string, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil || len(paths) != 1 {
		return "", errors.Join(err, fmt.Errorf("wazero's cache holds %d files, want 1", len(paths)))
	}
	return filepath.Rel(dir, paths[0])
}

// load compiles module, or takes its code from dir, and links it. dir may be "".
func (r *Runtime) load(ctx context.Context, dir string, module []byte) (err error) {
	config := wazero.NewRuntimeConfigCompiler()
	if dir != "" {
		if r.cache, err = wazero.NewCompilationCacheWithDir(dir); err != nil {
			return fmt.Errorf("open compilation cache %q: %w", dir, err)
		}
		config = config.WithCompilationCache(r.cache)
	}
	r.wazero = wazero.NewRuntimeWithConfig(ctx, config)
	if r.module, err = r.wazero.CompileModule(ctx, module); err != nil {
		return fmt.Errorf("compile engine: %w", err)
	}
	if err = instantiateWASI(ctx, r.wazero, r.module); err != nil {
		return fmt.Errorf("link engine: %w", err)
	}
	if err = instantiateHostCall(ctx, r.wazero); err != nil {
		return fmt.Errorf("link host call: %w", err)
	}
	return nil
}

// rewrittenSum is rewrittenSHA256 as bytes.
func rewrittenSum() (sum [sha256.Size]byte) {
	_, _ = hex.Decode(sum[:], []byte(rewrittenSHA256)) // a constant
	return sum
}
