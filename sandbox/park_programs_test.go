package sandbox_test

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/sandbox"
)

// TestParkedProgramsGoOn runs the programs whose output is compared with Node's, parks them at random between two
// callbacks or two microtasks, and continues each in another guest. They end as if they had never parked.
func TestParkedProgramsGoOn(t *testing.T) {
	e := newEngine(t)
	parked := 0
	eachProgram(t, func(t *testing.T, p *program) {
		seed := int64(1)
		n, err := parkedEndsAlike(t, e, sandbox.Script{Code: p.code, Seed: &seed})
		if err != nil {
			t.Error(err)
		}
		parked += n
	})
	if parked < 500 {
		t.Errorf("the programs were parked %d times", parked)
	}
}

// TestParkedConformanceGoesOn does the same with the programs of test262 that await. AIRLOCK_PARKED=n takes one of n.
func TestParkedConformanceGoesOn(t *testing.T) {
	dir := os.Getenv("TEST262_DIR")
	if dir == "" {
		t.Skip("TEST262_DIR is not set; make conformance says where the suite is from")
	}
	e := newEngine(t)
	harness := func(name string) string { return read(t, filepath.Join(dir, "harness", name)) }
	before := "var print = console.log, $262 = {global: globalThis, gc() {}};\n" + harness("assert.js") +
		harness("sta.js") + harness("doneprintHandle.js")
	step := 1
	if n, err := strconv.Atoi(os.Getenv("AIRLOCK_PARKED")); err == nil && n > 0 {
		step = n
	}
	async := regexp.MustCompile(`(?m)^flags: \[.*\basync\b`)
	includes := regexp.MustCompile(`(?m)^includes: \[(.*)\]`)
	found, ran, completed, parked := 0, 0, 0, 0
	err := filepath.WalkDir(filepath.Join(dir, "test"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".js") || strings.Contains(path, "_FIXTURE") {
			return err
		}
		text := read(t, path)
		if !async.MatchString(text) {
			return nil
		}
		if found++; found%step != 0 {
			return nil
		}
		code := before
		if m := includes.FindStringSubmatch(text); m != nil {
			for name := range strings.SplitSeq(m[1], ",") {
				code += harness(strings.TrimSpace(name))
			}
		}
		seed := int64(1)
		n, err := parkedEndsAlike(t, e, sandbox.Script{Code: code + text, Seed: &seed})
		if err != nil {
			t.Errorf("%s: %v", strings.TrimPrefix(path, dir), err)
		}
		if ran++; n > 0 {
			completed++
		}
		parked += n
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d programs, of which %d were parked, %d times", ran, completed, parked)
	if ran == 0 || completed < ran/2 {
		t.Errorf("%d of %d programs were parked", completed, ran)
	}
}

// mostParks bounds how often a program is parked.
const mostParks = 40

// parkedEndsAlike runs a script twice, the second time parked at random. It returns how often that was, and what then
// differs.
func parkedEndsAlike(t *testing.T, e *sandbox.Engine, script sandbox.Script) (parked int, err error) {
	t.Helper()
	grants := sandbox.Grants{Files: sandbox.FilesWrite, Modules: []string{"*"}, Waits: waits,
		Limits: sandbox.Limits{Wall: 30 * time.Second, LogChars: 1 << 16}}
	want := run(t, e, script, grants)
	random := rand.New(rand.NewPCG(3, uint64(len(script.Code))))
	often := grants
	often.ParkWhen(func() bool { return parked < mostParks && random.IntN(2) == 0 })
	often.ParkAmid(func() bool { return parked < mostParks && random.IntN(4) == 0 })
	parks := func() sandbox.Result {
		parked = 0
		got := run(t, e, script, often)
		for got.Parked != nil && parked < 2*mostParks {
			parked++
			got = resume(t, e, got, script, often)
		}
		return got
	}
	got := parks()
	if strings.Contains(got.Error, "streams do not outlast a wait") {
		often.ParkAmid(nil) // it has compression streams open
		got = parks()
	}
	type outcome struct {
		Value, Output, Error string
		Files                map[string][]byte
		Logs                 int
		Dropped              int
	}
	of := func(r sandbox.Result) outcome {
		return outcome{string(r.Value), r.Output, r.Error, r.Files, len(r.Logs), r.Usage.LogsDropped}
	}
	if diff := cmp.Diff(of(want), of(got)); diff != "" {
		err = errors.New(diff)
	}
	return parked, err
}
