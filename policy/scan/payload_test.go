package scan_test

import (
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/scan"
	"github.com/airlock-run/airlock/policy/threat"
)

// payloads returns requests within every size limit that cost parsers time in proportion to the square of their size.
func payloads() map[string]policy.Request {
	repeat := strings.Repeat
	commas := "1" + repeat(",1", 20_000)
	return map[string]policy.Request{
		"line separators":      {Code: repeat("a\u2028", 65_500)},
		"spaces outside ASCII": {Code: repeat("a\u00a0;", 60_000)},
		"commas":               {Code: "1" + repeat(",1", 40_000)},
		"six files of commas": {Code: "1", Files: map[string]string{"a.js": commas, "b.js": commas, "c.js": commas,
			"d.js": commas, "e.js": commas, "f.js": commas}},
		"commas in TypeScript":    {Code: "1" + repeat(",1", 16_000), Language: "typescript"},
		"operators in a template": {Code: "[`${" + repeat("+/*c*/", 40_000) + "1}`]"},
		"private names":           {Code: "class A{" + repeat("#p\n", 40_000) + "}"},
		"private names apart":     {Code: "class A{" + distinct("#", 30_000) + "}"},
		"comments and names":      {Code: repeat("a/*b*/", 40_000)},
		"findings on one line":    {Code: repeat("eval(1);", 20_000) + repeat("é", 40_000), Language: "typescript"},
		"many small files":        {Code: "1", Files: manyFiles(1_000, repeat("s+=`${s}`;", 40))},
	}
}

func distinct(prefix string, n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(prefix)
		b.WriteByte('a' + byte(i%26))
		b.WriteString(strings.Repeat("z", i/26%5))
		b.WriteByte('a' + byte(i/130%26))
		b.WriteByte(';')
	}
	return b.String()
}

func manyFiles(n int, code string) map[string]string {
	files := map[string]string{}
	for i := range n {
		files["lib/"+strings.Repeat("x", i/26)+string(rune('a'+i%26))+".ts"] = code
	}
	return files
}

// processorTime returns the processor time of this process.
func processorTime() time.Duration {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// TestPayloads checks that no payload costs far more than ordinary code of its size. Before the work of parsers was
// predicted each took five seconds or more. The bound leaves room for a busy machine and for the race detector.
func TestPayloads(t *testing.T) {
	set := policy.Default()
	for name, ask := range payloads() {
		for act, do := range map[string]func(policy.Request) policy.Decision{"decide": set.Decide, "analyze": set.Analyze} {
			before := processorTime()
			d := do(ask)
			if took := processorTime() - before; took > 5*time.Second {
				t.Errorf("%s: %s took %v", name, act, took)
			}
			if bad, ok := d.BadField(); ok {
				t.Errorf("%s is not within the limits: %v", name, bad)
			}
		}
	}
}

// BenchmarkPayloads measures the worst cases: processor time of one decision and of one analysis.
func BenchmarkPayloads(b *testing.B) {
	set := policy.Default()
	for name, ask := range payloads() {
		for act, do := range map[string]func(policy.Request) policy.Decision{"decide": set.Decide, "analyze": set.Analyze} {
			b.Run(name+"/"+act, func(b *testing.B) {
				before := processorTime()
				for b.Loop() {
					do(ask)
				}
				b.ReportMetric(float64((processorTime()-before).Microseconds())/1000/float64(b.N), "cpu-ms/op")
			})
		}
	}
}

// TestCheapReading checks that a cheap scan of the corpus finds the same as a full one, and that neither the payloads
// nor what esbuild has to parse counts as cheap.
func TestCheapReading(t *testing.T) {
	t.Parallel()
	reader := scan.New()
	archives, err := filepath.Glob(filepath.Join("testdata", "corpus", "*.txtar"))
	if err != nil || len(archives) == 0 {
		t.Fatal("no corpus", err)
	}
	cheap, all := 0, 0
	for _, name := range archives {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range archive.Files {
			text := scan.Input{Code: string(file.Data), Language: "javascript", Names: []string{"a.txt"}, Powers: scan.Powers{}}
			all++
			got, ok := reader.ScanCheap(text)
			if !ok {
				continue
			}
			cheap++
			if want, _ := reader.Scan(t.Context(), text); !reflect.DeepEqual(got, want) {
				t.Errorf("%s of %s: %+v, whole %+v", file.Name, name, got, want)
			}
		}
	}
	if cheap*3 < all {
		t.Errorf("%d of %d sources are cheap", cheap, all)
	}
	for name, ask := range payloads() {
		language := ask.Language
		if language == "" {
			language = "javascript"
		}
		if _, ok := reader.ScanCheap(scan.Input{Code: ask.Code, Language: language, Files: ask.Files}); ok {
			t.Errorf("%s is taken for cheap", name)
		}
	}
	for name, text := range map[string]scan.Input{
		"TypeScript":          {Code: "1", Language: "typescript"},
		"a TypeScript file":   {Code: "1", Language: "javascript", Files: map[string]string{"a.ts": "1"}},
		"a syntax check":      {Code: "1", Language: "javascript", Syntax: true},
		"what does not parse": {Code: "let let = ;", Language: "javascript"},
		"tokens over all files": {Code: strings.Repeat("a;", 600), Language: "javascript",
			Files: map[string]string{"a.js": strings.Repeat("a;", 600)}},
		"patterns times bytes": {Code: strings.Repeat(" ", 40<<10), Language: "javascript", Patterns: []string{"a", "b"}},
	} {
		if _, ok := reader.ScanCheap(text); ok {
			t.Errorf("%s is taken for cheap", name)
		}
	}
}

// TestShallowReading checks that the scan by tokens finds attacks in all sources, and says what it is.
func TestShallowReading(t *testing.T) {
	t.Parallel()
	found, err := scan.New().Scan(t.Context(), scan.Input{
		Code: "require('child_process').exec('ls')", Language: "javascript", Files: map[string]string{"a.ts": "eval('1')"},
		Shallow: true,
	})
	if err != nil || !found.Analysis.Unanalysed || found.Analysis.Level != threat.Critical {
		t.Fatalf("%+v %v", found, err)
	}
	var where []string
	for _, f := range found.Analysis.Findings {
		where = append(where, f.Category+" "+f.File)
	}
	for _, needed := range []string{"command_execution ", "code_injection a.ts", "unanalysed ", "unanalysed a.ts"} {
		if !strings.Contains(strings.Join(where, ",")+",", needed+",") {
			t.Errorf("no %q in %q", needed, where)
		}
	}
}

func FuzzInput(f *testing.F) {
	parts, err := scan.Input{Code: "a", Language: "typescript", Files: map[string]string{"b.js": "b\n", "c.js": ""},
		Syntax: true}.Parts()
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(strings.Join(parts, "")))
	f.Add([]byte("{}\n"))
	f.Add([]byte("{\"code\":-1}\nx"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var text scan.Input
		if text.UnmarshalBinary(b) != nil {
			return
		}
		again, err := text.Parts()
		if err != nil {
			t.Fatal(err)
		}
		var same scan.Input
		err = same.UnmarshalBinary([]byte(strings.Join(again, "")))
		if err != nil || same.Bytes() != text.Bytes() || same.Code != text.Code {
			t.Errorf("%q came back as %q: %v", text.Code, same.Code, err)
		}
	})
}
