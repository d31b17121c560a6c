package sandbox_test

import (
	"encoding/json"
	"runtime"
	"testing"
	"time"

	"github.com/airlock-run/airlock/sandbox"
)

// A guest whose functions have a new, long name at every sample does not make the host keep all of them.
func TestProfileOfManyNames(t *testing.T) {
	e := newEngine(t)
	code := `const end = Date.now() + 1500;
for (let n = 0; Date.now() < end; n++) {
  let f = () => { for (let i = 0; i < 20000; i++); };
  for (let d = 0; d < 20; d++) { const inner = f; f = () => inner();
    Object.defineProperty(f, 'name', { value: 'n' + n + '_' + d + '_'.repeat(1000) }); }
  f();
}`
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	r := run(t, e, sandbox.Script{Code: code},
		sandbox.Grants{Debug: sandbox.Debug{Profile: true}, Limits: sandbox.Limits{Wall: 10 * time.Second}})
	var file struct {
		Shared struct{ Frames []struct{ Name string } }
	}
	if err := json.Unmarshal(r.Debug.Profile, &file); err != nil || r.Error != "" {
		t.Fatal(r.Error, err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if len(file.Shared.Frames) > 4001 || len(r.Debug.Profile) > 4<<20 {
		t.Errorf("%d frames, %d bytes", len(file.Shared.Frames), len(r.Debug.Profile))
	}
	for _, f := range file.Shared.Frames {
		if len(f.Name) > 200 {
			t.Fatalf("a name of %d bytes", len(f.Name))
		}
	}
	if kept := int64(after.HeapAlloc) - int64(before.HeapAlloc); kept > 8<<20 {
		t.Errorf("%d MiB are kept", kept>>20)
	}
	runtime.KeepAlive(r)
}

// The stacks of console calls count as the guest's memory.
func TestStacksOfLogsAreCharged(t *testing.T) {
	e := newEngine(t)
	code := `let f = () => console.log('x');
for (let d = 0; d < 9; d++) { const inner = f; f = () => inner();
  Object.defineProperty(f, 'name', { value: 'n'.repeat(3000) }); }
for (let i = 0; i < 10000; i++) f();`
	r := run(t, e, sandbox.Script{Code: code},
		sandbox.Grants{Debug: sandbox.Debug{StackTraces: true},
			Limits: sandbox.Limits{Wall: 30 * time.Second, LogEntries: 10_000, MemoryBytes: 32 << 20}})
	if r.Limit != sandbox.LimitMemory {
		t.Errorf("limit %q, error %s, %d stacks of %d bytes", r.Limit, r.Error, len(r.Debug.StackTraces),
			len(r.Debug.StackTraces[0].Stack))
	}
}
