package foreign

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/airlock-run/airlock/sandbox/stdlib"
)

//go:embed core.js
var core string

//go:embed lacks.js
var lacks string

//go:embed node.js
var node string

// A Kind is an engine that this package can talk to.
type Kind struct {
	// Name is the engine's name in requests.
	Name string
	// Binary is the program that is looked up on the path.
	Binary string
	// Build is the first part of the name of an engine build.
	Build string
	// Oldest is the oldest major version of the program that has what the library needs.
	Oldest int

	arguments, jitless []string
	// optional are arguments that only some versions of the program know.
	optional     []string
	loader, part string
}

// V8 is V8 as Node.js has it.
var V8 = Kind{
	Name: "v8", Binary: "node", Build: "node", Oldest: 20, part: node,
	// One thread, because a fork has only one. The binding tells what promises and proxies hold.
	arguments: []string{"--single-threaded", "--v8-pool-size=1", "--expose-internals", "--no-warnings", "--no-lazy",
		"--harmony-rab-gsab-transfer"},
	jitless:  []string{"--jitless", "--no-expose-wasm"},
	optional: []string{"--harmony-rab-gsab-transfer", "--no-expose-wasm"},
	loader: `const fs = require('fs'), vm = require('vm'), room = Buffer.alloc(1 << 20);
let text = '';
while (!text.endsWith('\n')) text += room.latin1Slice(0, fs.readSync(0, room, 0, room.length, null));
const p = JSON.parse(text);
const run = (source, filename) => new vm.Script(source, { filename }).runInThisContext();
run(p.part, 'airlock:node.js')(require, (engine) => run(p.core, 'airlock:core.js')(engine, p.files));`,
}

// Kinds returns all kinds.
func Kinds() []Kind { return []Kind{V8} }

// KindNamed returns the kind of an engine.
func KindNamed(name string) (Kind, bool) {
	for _, k := range Kinds() {
		if k.Name == name {
			return k, true
		}
	}
	return Kind{}, false
}

// OptionsArgument returns the argument with which the program prints the options that it knows.
func (k Kind) OptionsArgument() string { return "--v8-options" }

// Command returns the command line of the engine. known is what the program prints for OptionsArgument.
func (k Kind) Command(program string, jit bool, known string) []string {
	command := append([]string{program}, k.arguments...)
	if !jit {
		command = append(command, k.jitless...)
	}
	command = slices.DeleteFunc(command, func(argument string) bool {
		option := strings.TrimPrefix(strings.TrimPrefix(argument, "--"), "no-")
		return slices.Contains(k.optional, argument) && !strings.Contains(known, "--"+option+" ")
	})
	return append(command, "-e", k.loader)
}

// CheckVersion returns an error if a version of the program, such as 20.11.1, is too old.
func (k Kind) CheckVersion(version string) error {
	major, _, _ := strings.Cut(version, ".")
	if n, err := strconv.Atoi(major); err != nil || n < k.Oldest {
		return fmt.Errorf("engine %s needs %s %d or newer; this is %q", k.Name, k.Binary, k.Oldest, version)
	}
	return nil
}

// Env returns the environment of the engine.
func (k Kind) Env() []string { return []string{"OPENSSL_CONF=/dev/null"} }

// BuildName returns the name of a build in results and records.
func (k Kind) BuildName(version string, jit bool) string {
	mode := "jitless"
	if jit {
		mode = "jit"
	}
	return k.Build + "-" + version + "-" + mode
}

// quirks are the files of the library that mend QuickJS, or that bring what these engines have themselves.
var quirks = []string{"native.js", "language.js", "date.js", "garbage.js"}

// Program returns what the engine reads before its job: one line.
func (k Kind) Program() ([]byte, error) {
	library, err := stdlib.Library("")
	if err != nil {
		return nil, fmt.Errorf("read standard library: %w", err)
	}
	program := struct {
		Part  string      `json:"part"`
		Core  string      `json:"core"`
		Files [][2]string `json:"files"`
	}{Part: k.part, Core: core}
	for _, f := range library {
		name := strings.TrimPrefix(f.Name, "airlock:")
		if slices.Contains(quirks, name) || strings.HasPrefix(name, "intl") {
			continue
		}
		program.Files = append(program.Files, [2]string{f.Name, f.Source})
		if name == "primordials.js" {
			program.Files = append(program.Files, [2]string{"airlock:lacks.js", lacks})
		}
	}
	text, err := json.Marshal(program)
	if err != nil {
		return nil, fmt.Errorf("encode the program of an engine: %w", err)
	}
	return append(ascii(text), '\n'), nil
}
