package sandbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/airlock-run/airlock/sandbox"
)

// cacheDir keeps the compiled engine between processes. Only the first start compiles it.
var cacheDir = filepath.Join(os.TempDir(), "airlock-test-cache")

func Example() {
	ctx := context.Background()
	engine, err := sandbox.New(ctx, sandbox.Config{CacheDir: cacheDir})
	if err != nil {
		fmt.Println("no engine:", err)
		return
	}
	defer engine.Close(ctx)
	result, err := engine.Run(ctx, sandbox.Script{Code: "[1, 2, 3].map((n) => n * n)"}, sandbox.Grants{})
	if err != nil {
		fmt.Println("the platform failed:", err)
		return
	}
	fmt.Println(string(result.Value))
	// Output: [1,4,9]
}

// A guest that throws or hits a limit is a Result, not an error.
func ExampleEngine_Run() {
	ctx := context.Background()
	engine, err := sandbox.New(ctx, sandbox.Config{CacheDir: cacheDir})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close(ctx)
	grants := sandbox.Grants{Limits: sandbox.Limits{Wall: 100 * time.Millisecond, MemoryBytes: 32 << 20}}
	for _, code := range []string{"input.n + 1", "null.x", "for (;;) {}"} {
		result, err := engine.Run(ctx, sandbox.Script{Code: code, Input: json.RawMessage(`{"n": 1}`)}, grants)
		if err != nil {
			fmt.Println("the platform failed:", err)
			return
		}
		fmt.Printf("value %q, error %q, limit %q\n", result.Value, result.Error, result.Limit)
	}
	// Output:
	// value "2", error "", limit ""
	// value "", error "TypeError: Cannot read properties of null (reading 'x')", limit ""
	// value "", error "timed out after 100ms of wall time", limit "wall"
}

// A tool is a Go function that the guest calls. Its schema is checked before the call.
func ExampleTool() {
	ctx := context.Background()
	engine, err := sandbox.New(ctx, sandbox.Config{CacheDir: cacheDir})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close(ctx)
	upper := func(_ context.Context, params json.RawMessage) (json.RawMessage, error) {
		var p struct{ Text string }
		if err := json.Unmarshal(params, &p); err != nil {
			return nil, err
		}
		return json.Marshal(strings.ToUpper(p.Text))
	}
	grants := sandbox.Grants{Tools: []sandbox.Tool{{
		Name: "text.upper", Call: upper,
		InputSchema: json.RawMessage(`{"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}`),
	}}}
	code := `[await text.upper({ text: "quiet" }), await text.upper({}).catch((e) => e.name)]`
	result, err := engine.Run(ctx, sandbox.Script{Code: code}, grants)
	if err != nil {
		fmt.Println("the platform failed:", err)
		return
	}
	fmt.Println(string(result.Value), result.Error)
	// Output: ["QUIET","TypeError"]
}

// Files are the modules that code can import and the start of the guest's file system.
func ExampleScript_files() {
	ctx := context.Background()
	engine, err := sandbox.New(ctx, sandbox.Config{CacheDir: cacheDir})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close(ctx)
	script := sandbox.Script{
		Entry: "main.ts",
		Files: map[string][]byte{
			"main.ts": []byte(
				"import { double } from './lib.ts';\nimport fs from 'fs';\nfs.writeFileSync('out.txt', `${double(21)}`);"),
			"lib.ts":      []byte("export const double = (n: number): number => n * 2;"),
			"data/in.txt": []byte("unused"),
		},
	}
	result, err := engine.Run(ctx, script, sandbox.Grants{Files: sandbox.FilesWrite})
	if err != nil {
		fmt.Println("the platform failed:", err)
		return
	}
	fmt.Printf("%s%s\n", result.Files["out.txt"], result.Error)
	// Output: 42
}

// A run is repeated from the journal of an earlier one: it reads the same clock and draws the same numbers.
func ExampleJournal() {
	ctx := context.Background()
	engine, err := sandbox.New(ctx, sandbox.Config{CacheDir: cacheDir})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close(ctx)
	script := sandbox.Script{Code: "[Math.random(), Date.now(), crypto.randomUUID()]"}
	first, err := engine.Run(ctx, script, sandbox.Grants{})
	if err != nil {
		fmt.Println("the platform failed:", err)
		return
	}
	again, err := engine.Run(ctx, script, sandbox.Grants{Replay: first.Journal})
	if err != nil {
		fmt.Println("the platform failed:", err)
		return
	}
	fmt.Println(string(first.Value) == string(again.Value), first.Pure)
	// Output: true false
}

// The zero Grants grants nothing but computation. A network is granted by host, and a secret is used without being
// seen.
func ExampleNetwork() {
	ctx := context.Background()
	engine, err := sandbox.New(ctx, sandbox.Config{CacheDir: cacheDir})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close(ctx)
	grants := sandbox.Grants{Network: sandbox.Network{
		Mode:    sandbox.NetworkAllowlist,
		Hosts:   []string{"api.example.com"},
		Secrets: []sandbox.Secret{{Name: "KEY", Value: "s3cr3t", Hosts: []string{"api.example.com"}}},
	}}
	code := `[secrets.KEY.includes("s3cr3t"), await fetch("https://other.example/").catch((e) => e.message)]`
	result, err := engine.Run(ctx, sandbox.Script{Code: code}, grants)
	if err != nil {
		fmt.Println("the platform failed:", err)
		return
	}
	fmt.Println(string(result.Value), result.Error)
	// Output: [false,"fetch failed: the host other.example is not among the hosts that this execution may reach"]
}
