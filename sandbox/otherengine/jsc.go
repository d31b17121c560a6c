package otherengine

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	_ "embed"
)

//go:embed jsc.js
var jsc string

// JSC is JavaScriptCore in its shell, which is part of WebKitGTK.
var JSC = Kind{Name: "jsc", Binary: "jsc", part: jsc, source: builtInSource, find: findShell}

// shellOptions are the options of the shell. One thread, because a fork has only one; frames of tail calls, as others
// have them.
var shellOptions = []string{"--useDollarVM=1", "--useConcurrentGC=0", "--numberOfGCMarkers=1", "--useConcurrentJIT=0",
	"--usePollingTraps=1", "--useWasm=0", "--useTailCalls=0", "--maxPerThreadStackUsage=1000000"}

// shellJitless are the further options without compilers.
var shellJitless = []string{"--useJIT=0"}

// shellLoader reads the program and runs it. Stacks do not show built-in code.
const shellLoader = `const p = JSON.parse(readline());
const vm = $vm, run = (source) => vm.createBuiltin('(function () { return (' + source + '\n); })')();
run(p.part)((engine) => run(p.core)(engine, p.files));`

// shellEnv is the environment of the shell. JavaScriptCore's own allocator has a thread, and cages that RLIMIT_DATA
// cannot bound.
var shellEnv = []string{"Malloc=1", "GIGACAGE_ENABLED=0", "TZ=UTC"}

// shellLibrary matches the library of the shell in the list of the dynamic linker.
var shellLibrary = regexp.MustCompile(`libjavascriptcoregtk-\S+ => (/\S+)`)

// constructors matches the declarations of functions that construct objects: on lines of their own, and in bundles.
var constructors = regexp.MustCompile(`(?m)(^ *|[;{}])function ([A-Z]\w*)\(`)

// bundledModule matches the beginning of a module in a bundle.
var bundledModule = regexp.MustCompile(`\.js"\(exports\d*,\s*module\d*\)\s*\{`)

// calls matches calls of methods that built-in code takes for those of Function.prototype.
var calls = regexp.MustCompile(`\??\.(apply|call)\(`)

// builtInSource returns a source as built-in code. Such code is ASCII, and its functions have no prototype unless they
// are given one.
func builtInSource(source string) string {
	source = withPrototypes(source)
	source = calls.ReplaceAllStringFunc(source, func(call string) string {
		name := strings.Trim(call, "?.(")
		if call[0] == '?' {
			return "?.['" + name + "']("
		}
		return "['" + name + "']("
	})
	return string(ascii([]byte(source)))
}

// withPrototypes returns a source in which functions that construct objects get prototypes: where they are declared, or
// at the beginning of a bundled module that uses the prototype before.
func withPrototypes(source string) string {
	const given = "Object.defineProperty(%[1]s, 'prototype', { value: Object.defineProperty({}, 'constructor', " +
		"{ value: %[1]s, writable: true, configurable: true }), writable: true });\n"
	added := map[int]string{}
	modules := bundledModule.FindAllStringIndex(source, -1)
	for _, found := range constructors.FindAllStringSubmatchIndex(source, -1) {
		at, name := found[3], source[found[4]:found[5]]
		own := strings.HasPrefix(source[found[2]:at], " ")
		if !own && !strings.Contains(source, name+".prototype") {
			continue
		}
		module := 0
		for _, m := range modules {
			if m[1] <= at {
				module = m[1]
			}
		}
		if !own && strings.Contains(source[module:at], name+".prototype") {
			at = module
		}
		added[at] += fmt.Sprintf(given, name)
	}
	var out strings.Builder
	done := 0
	for _, at := range slices.Sorted(maps.Keys(added)) {
		out.WriteString(source[done:at])
		out.WriteString(added[at])
		done = at
	}
	return out.String() + source[done:]
}

func findShell(ctx context.Context, program string, jit bool, output Output) (Setup, error) {
	// The shell does not tell its version. The file name of its library has one.
	list, err := output(ctx, []string{"LD_TRACE_LOADED_OBJECTS=1"}, program)
	if err != nil {
		return Setup{}, err
	}
	build := "unknown"
	if found := shellLibrary.FindStringSubmatch(list); found != nil {
		path, err := filepath.EvalSymlinks(found[1])
		if err != nil {
			return Setup{}, err
		}
		build = strings.Replace(strings.TrimPrefix(filepath.Base(path), "libjavascriptcoregtk-"), ".so.", "-", 1)
	}
	command := append([]string{program}, shellOptions...)
	if !jit {
		command = append(command, shellJitless...)
	}
	return Setup{Command: append(command, "-e", shellLoader), Env: shellEnv, Build: "javascriptcore-" + build}, nil
}
