package otherengine

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	_ "embed"
)

//go:embed node.js
var node string

// V8 is V8 in Node.js.
var V8 = Kind{Name: "v8", Binary: "node", part: node, find: findNode}

// oldestNode is the oldest major version of Node.js that has what the library needs.
const oldestNode = 20

// nodeOptions are the options of Node.js. One thread, because a fork has only one. The binding tells what promises and
// proxies hold. Large pages hold the machine code: a fork would map small ones again, one fault each.
var nodeOptions = []string{"--single-threaded", "--v8-pool-size=1", "--expose-internals", "--no-warnings", "--no-lazy",
	"--harmony-rab-gsab-transfer", "--use-largepages=silent"}

// nodeJitless are the further options without compilers, and nodeOptional those that only some versions know.
var (
	nodeJitless  = []string{"--jitless", "--no-expose-wasm"}
	nodeOptional = []string{"--harmony-rab-gsab-transfer", "--no-expose-wasm"}
)

// nodeLoader reads the program and runs it.
const nodeLoader = `const fs = require('fs'), vm = require('vm'), room = Buffer.alloc(1 << 20);
let text = '';
while (!text.endsWith('\n')) text += room.latin1Slice(0, fs.readSync(0, room, 0, room.length, null));
const p = JSON.parse(text);
const run = (source, filename) => new vm.Script(source, { filename }).runInThisContext();
run(p.part, 'airlock:node.js')(require, (engine) => run(p.core, 'airlock:core.js')(engine, p.files));`

func findNode(ctx context.Context, program string, jit bool, output Output) (Setup, error) {
	env := []string{"OPENSSL_CONF=/dev/null"}
	version, err := output(ctx, env, program, "--version")
	if err != nil {
		return Setup{}, err
	}
	version = strings.TrimPrefix(strings.TrimSpace(version), "v")
	if err := newEnough(version); err != nil {
		return Setup{}, err
	}
	known, err := output(ctx, env, program, "--v8-options")
	if err != nil {
		return Setup{}, err
	}
	return Setup{Command: nodeCommand(program, jit, known), Env: env, Build: "node-" + version}, nil
}

// newEnough returns an error if a version of Node.js, such as 20.11.1, is too old.
func newEnough(version string) error {
	major, _, _ := strings.Cut(version, ".")
	if n, err := strconv.Atoi(major); err != nil || n < oldestNode {
		return fmt.Errorf("%w: needs node %d or newer; this is %q", ErrUnfit, oldestNode, version)
	}
	return nil
}

// nodeCommand returns the command line. known lists the options that the program knows.
func nodeCommand(program string, jit bool, known string) []string {
	command := append([]string{program}, nodeOptions...)
	if !jit {
		command = append(command, nodeJitless...)
	}
	command = slices.DeleteFunc(command, func(argument string) bool {
		option := strings.TrimPrefix(strings.TrimPrefix(argument, "--"), "no-")
		return slices.Contains(nodeOptional, argument) && !strings.Contains(known, "--"+option+" ")
	})
	return append(command, "-e", nodeLoader)
}
