package quickjs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tetratelabs/wazero"

	"github.com/airlock-run/airlock/sandbox/internal/crew"
	"github.com/airlock-run/airlock/sandbox/internal/rewrite"
	"github.com/airlock-run/airlock/sandbox/internal/wasm"
)

// wazero finds compiled code by the hash of the module's bytes, and decodes and checks every function of the module
// first, which takes half of a start, although the code that it then loads was made from them long ago. So a start
// that finds compiled code gives wazero a shell: the rewritten module with its types, functions, globals and exports,
// and nothing in the functions. The cache folder holds the shell, and the code of the rewritten module under the
// shell's name:
//
//	engine-<hash of the rewritten module>   the shell
//	wazero-<version>-<system>/<key>         the compiled code, in wazero's own form; the key has the shell's hash in it
//
// The shell names its module, so that no other module's code is found by it, and holds what the host needs to know of
// the engine. When wazero finds no code, because it was deleted or is another processor's, it compiles the shell:
// Enter does not answer with its mark then, and the module itself is compiled, as at the first start.

const (
	shellFile    = "engine-"
	shellSection = "airlock"
)

var errShell = errors.New("the cached code is not the engine's")

// shell returns module without its code, and with facts.
func shell(module []byte, facts rewrite.Host) ([]byte, error) {
	sections, err := wasm.Sections(module)
	if err != nil {
		return nil, err
	}
	known, err := json.Marshal(facts)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(module)
	out := wasm.AppendSection([]byte(wasm.Header), wasm.SectionCustom,
		append(append(wasm.AppendBlock(nil, []byte(shellSection)), sum[:]...), known...))
	for _, s := range sections {
		if s.ID == wasm.SectionCode {
			code := &wasm.Reader{B: s.Body}
			n := code.Uint()
			if n > uint64(len(s.Body)) || code.Err != nil {
				return nil, wasm.ErrTruncated
			}
			s.Body = wasm.AppendUint(nil, n)
			for range n {
				s.Body = append(s.Body, 3, 0, wasm.Unreachable, wasm.End) // a length, no locals
			}
		}
		out = wasm.AppendSection(out, s.ID, s.Body)
	}
	return out, nil
}

// factsOf returns the facts that a shell holds.
func factsOf(shell []byte) (facts rewrite.Host, err error) {
	sections, err := wasm.Sections(shell)
	if err != nil || len(sections) == 0 || sections[0].ID != wasm.SectionCustom {
		return facts, errors.Join(err, errShell)
	}
	r := &wasm.Reader{B: sections[0].Body}
	r.Block()
	r.Bytes(sha256.Size)
	if r.Err != nil {
		return facts, r.Err
	}
	return facts, json.Unmarshal(r.B[r.Pos:], &facts)
}

// loadShell loads the compiled code from the cache folder. An error says why it cannot.
func loadShell(ctx context.Context, dir string, build Build) (*Runtime, error) {
	module, err := readKept(build.shellPath(dir))
	if err != nil {
		return nil, err
	}
	r := &Runtime{build: build, crew: crew.New()}
	if _, err = hex.Decode(r.sum[:], []byte(build.rewritten)); err != nil {
		return nil, err
	}
	if r.facts, err = factsOf(module); err != nil {
		return nil, err
	}
	if err = r.load(ctx, dir, module); err == nil {
		err = r.hasMark(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, r.Close(ctx))
	}
	return r, nil
}

func (b Build) shellPath(dir string) string { return filepath.Join(dir, shellFile+b.rewritten[:32]) }

// hasMark returns an error unless the compiled code is the rewritten module's.
func (r *Runtime) hasMark(ctx context.Context) error {
	size := uint64(r.facts.StackTop) // the memory that the module begins with
	mem, err := anonymous(size)
	if err != nil {
		return err
	}
	defer func() { _ = unmapRange(mem) }() // nothing can be done about it
	in, err := r.instantiate(ctx, &region{mem: mem, cap: size})
	if err != nil {
		return err
	}
	defer in.drop()
	if v, err := in.enter(rewrite.OpMark, 0, 0, 0, 0, 0); err != nil || v != rewrite.Mark {
		return errors.Join(errShell, err)
	}
	return nil
}

// compileInto compiles module and puts its code into the cache folder for later starts. If the folder cannot be
// written, those take longer; this one does not.
func (r *Runtime) compileInto(ctx context.Context, dir string, module []byte) error {
	work, err := os.MkdirTemp(dir, ".engine-")
	if err != nil {
		return r.load(ctx, "", module)
	}
	defer func() { _ = os.RemoveAll(work) }() // leftovers do no harm
	code := filepath.Join(work, "code")
	if err := r.load(ctx, code, module); err != nil {
		return err
	}
	_ = r.keepCode(ctx, dir, code, filepath.Join(work, "shell"), module)
	return nil
}

// keepCode moves the one file that wazero wrote below code to the place where wazero looks for the shell's code.
func (r *Runtime) keepCode(ctx context.Context, dir, code, empty string, module []byte) error {
	hollow, err := shell(module, r.facts)
	if err != nil {
		return err
	}
	l := Runtime{crew: crew.New()}
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
	return writeKept(r.build.shellPath(dir), hollow)
}

// onlyFile returns the path below dir of the one file in the one folder there.
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
	if err = r.link(ctx); err != nil {
		return fmt.Errorf("link engine: %w", err)
	}
	return nil
}
