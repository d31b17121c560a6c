package otherengine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	_ "embed"

	"github.com/airlock-run/airlock/sandbox/stdlib"
)

//go:embed core.js
var core string

//go:embed lacks.js
var lacks string

// A Kind is an engine that this package can talk to.
type Kind struct {
	// Name is the engine's name in requests.
	Name string
	// Binary is the program that is looked up on the path.
	Binary string

	// part is what core.js needs of the engine.
	part string
	// source returns a source of the program as the engine reads it; nil changes nothing.
	source func(string) string
	// find returns how program is started, without what the process reads.
	find func(ctx context.Context, program string, jit bool, output Output) (Setup, error)
}

// Kinds returns all kinds.
func Kinds() []Kind { return []Kind{V8, JSC} }

// KindNamed returns the kind of an engine.
func KindNamed(name string) (Kind, bool) {
	for _, k := range Kinds() {
		if k.Name == name {
			return k, true
		}
	}
	return Kind{}, false
}

// Output runs a program with an environment and returns what it prints.
type Output func(ctx context.Context, env []string, program string, arguments ...string) (string, error)

// ErrUnfit is the error of a program that lacks what the library needs.
var ErrUnfit = errors.New("the program is unfit")

// A Setup is how an engine of this machine is started.
type Setup struct {
	Command []string
	// Env is its whole environment.
	Env []string
	// Program is what the process reads before its job: one line.
	Program []byte
	// Warm is a line that the process may read before its job, after which it prints again that it is ready.
	Warm []byte
	// Rehearsal is a job that ends by printing that the process is ready. It is the only job of its process.
	Rehearsal []byte
	// Build names the engine's build in results and records.
	Build string
}

// SetUp returns how to start the engine whose program is at a path. The error says what the program lacks.
func (k Kind) SetUp(ctx context.Context, program string, jit bool, output Output) (Setup, error) {
	s, err := k.find(ctx, program, jit, output)
	if err != nil {
		return Setup{}, fmt.Errorf("engine %s: %w", k.Name, err)
	}
	s.Build += "-jitless"
	if jit {
		s.Build = strings.TrimSuffix(s.Build, "less")
	}
	s.Program, err = k.program()
	s.Warm, s.Rehearsal = []byte(warm), []byte(rehearsal)
	return s, err
}

// warm is a step that changes nothing and does what jobs do, so that the engine has compiled what it needs for them.
const warm = `{"do":"warm","name":"airlock:warm","context":"{\"a\":[1]}","random":[1,2,3,4],"text":` +
	`"(async function (input) { const f = (n) => n < 2 ? n : f(n - 1) + f(n - 2); return [f(2), input]; })"}` + "\n"

// rehearsal is a job that shows what memory jobs use.
const rehearsal = `{"do":"start","name":"script.js","context":"{}","input":"null","flags":0,"limit":1048576,` +
	`"eval":false,"random":[1,2,3,4],"text":` +
	`"(async (input) => { const f = (n) => n < 2 ? n : f(n - 1) + f(n - 2); return f(10); })"}` + "\n" +
	`{"do":"ready"}` + "\n"

// quirks are the files of the library that correct QuickJS, or that add what the other engines have themselves.
var quirks = map[string]bool{"native.js": true, "language.js": true, "date.js": true, "garbage.js": true}

// program returns what the engine reads before its job.
func (k Kind) program() ([]byte, error) {
	library, err := stdlib.Library("")
	if err != nil {
		return nil, fmt.Errorf("read standard library: %w", err)
	}
	text := k.source
	if text == nil {
		text = func(source string) string { return source }
	}
	program := struct {
		Part  string      `json:"part"`
		Core  string      `json:"core"`
		Files [][2]string `json:"files"`
	}{Part: text(k.part), Core: text(core)}
	for _, f := range library {
		name := strings.TrimPrefix(f.Name, "airlock:")
		if quirks[name] || strings.HasPrefix(name, "intl") {
			continue
		}
		program.Files = append(program.Files, [2]string{f.Name, text(f.Source)})
		if name == "primordials.js" {
			program.Files = append(program.Files, [2]string{"airlock:lacks.js", lacks})
		}
	}
	line, err := json.Marshal(program)
	if err != nil {
		return nil, fmt.Errorf("encode the program of an engine: %w", err)
	}
	return append(ascii(line), '\n'), nil
}
