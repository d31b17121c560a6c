package sandbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/sandbox"
)

const (
	hostMemoryChild = "AIRLOCK_TEST_HOST_MEMORY_CHILD"
	// hostMemoryLimit is the memory that guests may take in total. hostMemoryRest is what the process takes in
	// addition: its own memory, uncollected garbage, and the call stack of a guest that recurses as deep as it can. Both
	// together stay below the 512 MiB of a function process; a busy machine collects garbage later.
	hostMemoryLimit = 192 << 20
	hostMemoryRest  = 288 << 20
)

// hoarders make the host hold as much memory as possible. All of them end at the memory limit.
var hoarders = map[string]string{
	"AES-CBC of 80 MB": "$sync('crypto.aes', 'CBC', 1, buf(32), buf(16), buf(80 * M), buf(0))",
	"AES-GCM": "try { $sync('crypto.aes', 'GCM:32', 0, buf(32), buf(12), buf(24 * M), buf(0)) } catch " +
		"{} $sync('cipher', 'aes-128-ecb', 2, buf(16), buf(0), buf(90 * M), buf(0))",
	"a form of many names": "new URLSearchParams('a&'.repeat(4 << 20))",
	"a form to be written": "const big = str(16 * M, '\\u0001'); new URLSearchParams([[big, '']]).toString()",
	"atob of 40 MB":        "atob(str(40 * M, '////'))",
	"btoa of wide text":    "btoa(str(70 * M, 'é'))",
	"a decoder":            "new TextDecoder('gb18030').decode(new Uint8Array(40 * M).fill(0x80))",
	"a decoder that streams": "new TextDecoder('windows-1252').decode(new Uint8Array(40 * M).fill(0x80), { stream: " +
		"true })",
	"an encoder":  "new TextEncoder().encode(str(90 * M, '日'))",
	"hexadecimal": "Buffer.alloc(60 * M, 7).toString('hex')",
	"a long word": "$sync('intl.segment', 'grapheme', str(40 * M, 'a b '))",
	"compression streams": "for (let i = 0; i < 16; i++) { const id = $sync('zip.open', 'brotli'); " +
		"$sync('zip.write', id, noise(16 * M), 0); }",
	"decompression streams": "const b = $sync('zlib', 'brotli', 6, 1 << 30, noise(2 * M)); for (let i = 0; i < 64; " +
		"i++) $sync('unzip.step', $sync('unzip.open', 'brotli'), b, 0)",
	"files": "const fs = require('fs'); for (let i = 0; ; i++) fs.writeFileSync('/f' + i, new " +
		"Uint8Array(8 * M))",
	"a file that grows": "const fs = require('fs'); const some = new Uint8Array(4 * M); for (;;) " +
		"fs.appendFileSync('/f', some)",
	"uploads":        "for (let i = 0; ; i++) $sync('fetch.send', i, buf(4 * M))",
	"requests":       "for (let i = 0; ; i++) $host(8, i, 'nothing', str(M))",
	"small requests": "for (let i = 0; ; i++) $host(8, i, 'nothing', '')",
	"guest and host": "const kept = []; for (;;) { kept.push(new Uint8Array(4 * M)); $sync('crypto.aes', " +
		"'CBC', 1, buf(32), buf(16), kept[0].buffer, buf(0)); }",
}

// TestHostMemoryCounts checks that the process stays within the guest's limit and a constant, whatever guests make
// the host do.
func TestHostMemoryCounts(t *testing.T) {
	if os.Getenv(hostMemoryChild) != "" {
		hoard(t)
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHostMemoryCounts$", "-test.v", "-test.timeout=10m")
	cmd.Env = append(os.Environ(), hostMemoryChild+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("the process did not live: %v\n%s", err, out)
	}
	m := regexp.MustCompile(`peak (\d+) (\d+)`).FindSubmatch(out)
	if m == nil {
		t.Fatalf("no peak in\n%s", out)
	}
	begin, _ := strconv.ParseInt(string(m[1]), 10, 64)
	peak, _ := strconv.ParseInt(string(m[2]), 10, 64)
	t.Logf("%d MiB resident at the beginning, %d MiB at most", begin>>20, peak>>20)
	if most := int64(hostMemoryLimit + hostMemoryRest); peak > most && !raceEnabled {
		t.Errorf("the process had %d MiB resident, at most %d are allowed for a limit of %d", peak>>20, most>>20,
			hostMemoryLimit>>20)
	}
}

// hoard runs all hoarders as a function process would, and prints the peak of resident memory.
func hoard(t *testing.T) {
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(200)
	debug.SetMemoryLimit(192 << 20) // as functions/process sets it
	e, err := sandbox.NewExposed(t.Context(),
		sandbox.Config{CacheDir: filepath.Join(os.TempDir(), "airlock-test-cache")}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	grants := allGrants(func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil })
	// Each must reach the limit of memory. Under the race detector, that takes the compressors more than a minute.
	grants.Limits = sandbox.Limits{Wall: 4 * time.Minute, MemoryBytes: hostMemoryLimit, APICalls: 1 << 20,
		FetchBytes: 1 << 30, FileBytes: 1 << 30, LogEntries: 1 << 20, OutputBytes: 16 << 20}
	keys := material(t)
	begin := peakResident(t)
	for name, code := range hoarders {
		began := time.Now()
		r, err := e.Run(t.Context(), sandbox.Script{Code: prelude + code, Context: keys}, grants)
		if err != nil || r.Limit != sandbox.LimitMemory {
			t.Errorf("%s: limit %q, error %q, %v", name, r.Limit, r.Error, err)
		}
		if r.Usage.MemoryBytes > hostMemoryLimit {
			t.Errorf("%s: %d bytes are reported under a limit of %d", name, r.Usage.MemoryBytes, hostMemoryLimit)
		}
		fmt.Printf("%s: %d MiB so far, after %v\n", name, peakResident(t)>>20, time.Since(began))
	}
	grants.Limits.CPU = 60 * time.Millisecond
	largest := map[string]hostCase{} // for each operation, one of those with the largest arguments
	for _, c := range hostCases(t, e, grants, true) {
		if name, args, _ := strings.Cut(c.name, " "); strings.Contains(args, "FULL") {
			largest[name] = c
		}
	}
	for _, c := range largest {
		if _, err := e.Run(t.Context(), sandbox.Script{Code: c.code, Context: keys}, grants); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	fmt.Printf("peak %d %d\n", begin, peakResident(t))
}

// peakResident returns the peak of this process's resident memory.
func peakResident(t *testing.T) int64 {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(b)
	if m == nil {
		t.Fatalf("no VmHWM in %s", b)
	}
	n, err := strconv.ParseInt(string(m[1]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n << 10
}
