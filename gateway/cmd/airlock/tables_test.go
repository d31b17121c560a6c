package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/bounds"
	"github.com/airlock-run/airlock/gateway/cli/exit"
	"github.com/airlock-run/airlock/gateway/hooks"
	"github.com/airlock-run/airlock/gateway/wiring/settings"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/threat"
)

// row is a line of a table, cell by cell.
type row []string

// table returns the rows of the table of a document that begins with a header.
func table(t *testing.T, document, header string) []row {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, document))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "\n"+header+"\n")
	if !found {
		t.Fatalf("%s has no table %s", document, header)
	}
	var rows []row
	for line := range strings.Lines(rest) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			break
		}
		var cells row
		for cell := range strings.SplitSeq(strings.Trim(line, "|"), "|") {
			cells = append(cells, strings.TrimSpace(cell))
		}
		rows = append(rows, cells)
	}
	return rows[1:] // the first is the ruler
}

var quotedName = regexp.MustCompile("`([^`]+)`")

// quotedNames returns the texts in backquotes of a column.
func quotedNames(rows []row, column int) []string {
	var names []string
	for _, r := range rows {
		for _, m := range quotedName.FindAllStringSubmatch(r[column], -1) {
			names = append(names, m[1])
		}
	}
	return names
}

func sameNames(t *testing.T, what string, documented, actual []string) {
	t.Helper()
	documented, actual = slices.Compact(slices.Sorted(slices.Values(documented))),
		slices.Compact(slices.Sorted(slices.Values(actual)))
	for _, name := range documented {
		if !slices.Contains(actual, name) {
			t.Errorf("%s: %s is documented, and is not there", what, name)
		}
	}
	for _, name := range actual {
		if !slices.Contains(documented, name) {
			t.Errorf("%s: %s is there, and is not documented", what, name)
		}
	}
}

func TestDocumentedSettings(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(repository, "gateway/OPERATIONS.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "<!-- settings -->")
	documented, _, _ := strings.Cut(rest, "<!-- end of settings -->")
	var want strings.Builder
	for _, group := range settings.Groups {
		fmt.Fprintf(&want, "### %s\n\n| variable | default | |\n|---|---|---|\n", group.Title)
		for _, v := range group.Variables {
			fmt.Fprintf(&want, "| `%s` | %s | %s |\n", v.Name, v.Default, v.About)
		}
		want.WriteByte('\n')
	}
	if strings.TrimSpace(documented) != strings.TrimSpace(want.String()) {
		t.Errorf("gateway/OPERATIONS.md does not list the settings as they are; they are\n%s", want.String())
	}
	known := settings.Names()
	for _, name := range quotedNames(table(t, "README.md", "| variable | default | |"), 0) {
		if !slices.Contains(known, name) {
			t.Errorf("README.md lists %s, which is no setting", name)
		}
	}
}

// tierRows returns the tiers as the documents show them, each with the modules that the tier before lacks.
func tierRows() []row {
	var rows []row
	var before []string
	words := map[string]string{"none": "none", "allowlist": "allow-listed hosts", "public": "public addresses",
		"read": "read-only", "write": "read and write"}
	for _, tier := range policy.Builtin() {
		modules, more := tier.Modules, ""
		if len(before) > 0 && !slices.Contains(modules, policy.AnyModule) {
			modules, more = modules[len(before):], "+ "
		}
		listed := more + strings.Join(modules, ", ")
		if slices.Contains(modules, policy.AnyModule) {
			listed = "all there are"
		}
		before = tier.Modules
		name, eval := "`"+tier.Name+"`", map[bool]string{true: "yes", false: "no"}[tier.Eval]
		rows = append(rows, row{
			name, fmt.Sprintf("%.0f s", tier.Timeout.Seconds()), fmt.Sprintf("%d MB", tier.MemoryBytes>>20),
			words[tier.Network], words[tier.Files], eval, listed, tier.BlockLevel,
		})
	}
	return rows
}

func TestDocumentedTiers(t *testing.T) {
	t.Parallel()
	for document, header := range map[string]string{
		"README.md":        "| tier | time | memory | network | files | `eval` | modules |",
		"policy/README.md": "| tier | time | memory | network | files | `eval` | modules | refuses from |",
	} {
		rows, want := table(t, document, header), tierRows()
		if len(rows) != len(want) {
			t.Fatalf("%s has %d tiers", document, len(rows))
		}
		for i, r := range rows {
			r[0] = strings.TrimSuffix(r[0], " (default)")
			if !slices.Equal(r, want[i][:len(r)]) {
				t.Errorf("%s says %q, and it is %q", document, r, want[i][:len(r)])
			}
		}
	}
}

// Each limit is reached, and its message has the documented number.
func TestDocumentedLimits(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(repository, "policy/README.md"))
	if err != nil {
		t.Fatal(err)
	}
	getenv := env("AIRLOCK_CACHE_DIR=" + filepath.Join(os.TempDir(), "airlock-test-cache"))
	for _, c := range []struct{ code, says, documented string }{
		{"for (let i = 0; ; i++) require('fs').writeFileSync('f' + i, '')", "16 MiB in 1024 files",
			"| 16 MiB, 1,024 files and folders | limit `files` |"},
		{"for (;;) console.log('x'.repeat(1e4))", "output limit of 1 MiB", "| console calls in `logs` | 100 under `strict`"},
		{"console.log('x'.repeat(2 ** 21))", "output limit of 1 MiB", "| 1 MiB each | limit `output` |"},
		{"const a = []; for (;;) a.push(new Uint8Array(1 << 20).fill(1))", "memory limit of 128 MiB",
			"| memory | the tier's | limit `memory` |"},
		{"for (let i = 0; i < 60; i++) await fetch('http://127.0.0.1/').catch(() => 0)", "limit of 50 api calls",
			"| 50 | limit `apiCalls` |"},
		{"(function f() { f() })()", "RangeError", "uncaught it is limit `stack`"},
	} {
		if code, _, errs := command(t, getenv, "run", "--policy", "extended", "-e", c.code); code != exitLimit ||
			!strings.Contains(errs, c.says) {
			t.Errorf("%s: exit %d, %q; want %q", c.code, code, errs, c.says)
		}
		if !strings.Contains(string(text), c.documented) {
			t.Errorf("policy/README.md does not say %q", c.documented)
		}
	}
	_, wrong := execution.DecodeRequest([]byte(`{"code": "1", "limits": {"nope": 1}}`))
	_, names, _ := strings.Cut(fmt.Sprint(wrong), "accepted here: ")
	for name := range strings.SplitSeq(names, ", ") {
		if !strings.Contains(string(text), "`"+name+"`") {
			t.Errorf("policy/README.md does not name limits.%s", name)
		}
	}
	tier := policy.Builtin()[0]
	for _, want := range []string{
		fmt.Sprintf("| one console call in `logs` | 1,%03d characters |", tier.LogChars-1000),
		fmt.Sprintf("| code | %d MiB a source; %d KiB under `strict` | 400 |", policy.MaxCodeBytes>>20, tier.CodeBytes>>10),
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("policy/README.md does not say %q", want)
		}
	}
}

func TestDocumentedCategories(t *testing.T) {
	t.Parallel()
	_, out, errs := command(t, env(), "scan", "--json", "--policy", "strict",
		filepath.Join(repository, "functions/examples/dangerous-scripts.js"))
	var reports []scanReport
	if err := json.Unmarshal([]byte(out), &reports); err != nil || len(reports) != 1 {
		t.Fatalf("%v: %s%s", err, out, errs)
	}
	rows := table(t, "policy/README.md", "| category | severity | such as |")
	sameNames(t, "policy/README.md", quotedNames(rows, 0), threat.Categories())
	for _, f := range reports[0].DangerAnalysis.Findings {
		if !slices.ContainsFunc(rows, func(r row) bool { return r[0] == "`"+f.Category+"`" && r[1] == f.Severity }) {
			t.Errorf("%s is %s", f.Category, f.Severity)
		}
	}
}

var (
	codeLiteral   = regexp.MustCompile(`Status: (\d+), Code: "(\w+)"`)
	outcomeReturn = regexp.MustCompile(`case (\d+):\s+return "(\w+)"`)
	platformCodes = regexp.MustCompile(`Code = "(\w+)"`)
)

// The table has every code of a problem with its status, and nothing else.
func TestDocumentedErrors(t *testing.T) {
	t.Parallel()
	statuses := map[string]string{"internal": "500", "invalid_request": "400", "throttled": "503", "unrecorded": "503"}
	add := func(code, status string) {
		if statuses[code] == "" || status != "" {
			statuses[code] = status
		}
	}
	files, err := filepath.Glob("../../*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	subpackages, err := filepath.Glob("../../*/*.go")
	if err != nil || len(subpackages) == 0 {
		t.Fatal(subpackages, err)
	}
	files = append(files, subpackages...)
	for _, name := range append(files, "../../../functions/execution/error.go") {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range codeLiteral.FindAllStringSubmatch(string(text), -1) {
			add(m[2], m[1])
		}
		for _, m := range outcomeReturn.FindAllStringSubmatch(string(text), -1) {
			add(m[2], m[1])
		}
		for _, m := range platformCodes.FindAllStringSubmatch(string(text), -1) {
			add(m[1], "")
		}
	}
	delete(statuses, "sources_needed") // between gateway and function; callers do not see it
	rows := table(t, "gateway/API.md", "| status | code | |")
	var actual []string
	for code, status := range statuses {
		actual = append(actual, code)
		if status != "" && !slices.ContainsFunc(rows,
			func(r row) bool { return r[0] == status && strings.Contains(r[1], "`"+code+"`") }) {
			t.Errorf("gateway/API.md does not say that %s is %s", code, status)
		}
	}
	sameNames(t, "gateway/API.md", quotedNames(rows, 1), actual)
}

func TestDocumentedExitCodes(t *testing.T) {
	t.Parallel()
	rows := table(t, "gateway/cmd/airlock/README.md", "| exit code | |")
	if len(rows) != strings.Count(exit.Codes, "\n")-1 {
		t.Errorf("%d exit codes are documented", len(rows))
	}
	for _, r := range rows {
		if n, err := strconv.Atoi(r[0]); err != nil ||
			!strings.Contains(exit.Codes, fmt.Sprintf("\n  %-4d %s\n", n, strings.ReplaceAll(r[1], "`", ""))) {
			t.Errorf("the help does not say %q", r)
		}
	}
}

func TestDocumentedBounds(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(repository, "gateway/OPERATIONS.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "<!-- bounds -->")
	documented, _, _ := strings.Cut(rest, "<!-- end of bounds -->")
	want := "| resource | | at most | share of one owner | beyond it |\n|---|---|---|---|---|\n"
	for _, b := range bounds.Table() {
		most := "a setting"
		if b.Most > 0 {
			most = strconv.Itoa(b.Most)
		}
		if b.Bytes > 0 {
			most += fmt.Sprintf(", %d MiB", b.Bytes>>20)
		}
		want += fmt.Sprintf("| `%s` | %s | %s | per %s: %s | %s |\n", b.Resource, b.What, most, b.Owner, b.Share, b.Answer)
	}
	if strings.TrimSpace(documented) != strings.TrimSpace(want) {
		t.Errorf("gateway/OPERATIONS.md does not list the bounds as they are; they are\n%s", want)
	}
}

var exposedMetric = regexp.MustCompile(`(?m)^# TYPE (airlock_\w+)`)
var metricName = regexp.MustCompile(`airlock_[a-z_]+`)

func TestDocumentedMetrics(t *testing.T) {
	t.Parallel()
	p := start(t, "RATE_LIMIT_MAX_REQUESTS=1000")
	for _, body := range []string{`{"code":"1"}`, `{"code":"for (;;);","timeout":5}`, `{`} {
		p.post(t.Context(), t, "/api/execute", body)
	}
	if status, answer := p.put(t, "/api/functions/f", `{"code":"export default () => 1"}`); status != 201 {
		t.Fatal(status, answer)
	}
	text := fetched(t, p.url+"/metrics")
	var exposed []string
	for _, m := range exposedMetric.FindAllStringSubmatch(text, -1) {
		exposed = append(exposed, m[1])
	}
	rows := table(t, "gateway/OPERATIONS.md", "| metric | labels | |")
	// The heartbeat is exposed after the first sample, which a test does not wait for.
	exposed = append(exposed, "airlock_function_process_heartbeat_timestamp_seconds")
	sameNames(t, "gateway/OPERATIONS.md", quotedNames(rows, 0), exposed)
	for _, r := range rows {
		for _, m := range quotedName.FindAllStringSubmatch(r[0], -1) {
			for _, label := range quotedName.FindAllStringSubmatch(r[1], -1) {
				if !regexp.MustCompile(m[1]+`(_bucket)?\{([^}]*,)?`+label[1]+`="`).MatchString(text) &&
					!strings.Contains(m[1], "heartbeat") {
					t.Errorf("%s has no label %s", m[1], label[1])
				}
			}
		}
	}
	document, err := os.ReadFile(filepath.Join(repository, "gateway/OPERATIONS.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range metricName.FindAllString(string(document), -1) {
		if !slices.Contains(exposed, name) {
			t.Errorf("gateway/OPERATIONS.md names %s, which is not exposed", name)
		}
	}
}

func fetched(t *testing.T, address string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%d %v", answer.StatusCode, err)
	}
	return string(b)
}

func TestDocumentedTools(t *testing.T) {
	t.Parallel()
	p := start(t, "RATE_LIMIT_MAX_REQUESTS=1000")
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).
		Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: p.url + "/mcp"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = session.Close() }()
	listed, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range listed.Tools {
		names = append(names, tool.Name)
	}
	sameNames(t, "gateway/mcp/README.md", quotedNames(table(t, "gateway/mcp/README.md", "| tool | |"), 0), names)
}

func TestDocumentedNames(t *testing.T) {
	t.Parallel()
	sameNames(t, "gateway/hooks/README.md", quotedNames(table(t, "gateway/hooks/README.md",
		"| scheme | signature | the same message |"), 0), hooks.Schemes())
	scopes := quotedNames(table(t, "gateway/API.md", "| scope | permits |"), 0)
	sameNames(t, "gateway/API.md", scopes, append(authn.Scopes(), "tier:NAME", "host:PATTERN", "secret:NAME",
		"tool:PATTERN"))

	for _, pattern := range quotedNames(table(t, "sandbox/SECURITY-MODEL.md",
		"| wall | what it stops | what happens if it falls | held by |"), 3) {
		pattern = strings.TrimSuffix(pattern, "-*") + "*.js"
		found, err := filepath.Glob(filepath.Join(repository, "sandbox/testdata/hostile", pattern))
		if err != nil {
			t.Fatal(err)
		}
		if text := strings.Contains(pattern, " ") || strings.HasPrefix(pattern, "-"); len(found) == 0 && !text {
			t.Errorf("sandbox/SECURITY-MODEL.md names hostile files %s, of which there are none", pattern)
		}
	}
	files, err := filepath.Glob(filepath.Join(repository, "functions/examples/*.js"))
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		about, rest, _ := strings.Cut(string(text), "\n// tier: ")
		tier, _, _ := strings.Cut(rest, "\n")
		base := strings.TrimSuffix(filepath.Base(name), ".js")
		about = strings.ReplaceAll(strings.TrimPrefix(about, "// "), "\n// ", " ")
		want = append(want, fmt.Sprintf("[%s](%s.js) `%s` %s", base, base, tier, about))
	}
	var documented []string
	for _, r := range table(t, "functions/examples/README.md", "| program | tier | what it shows |") {
		documented = append(documented, strings.Join(r, " "))
	}
	sameNames(t, "functions/examples/README.md", documented, want)
}
