package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/airlock-run/airlock/gateway/cli/terminal"
	"github.com/airlock-run/airlock/infra/records/filerecords"
	"github.com/airlock-run/airlock/infra/records/recordstest"
)

// steering is text that clears a terminal, sets its title, reverses its lines, hides text, and forges a line.
const steering = "a\x1b[2J\x1b]0;owned\x07\x9b31m\u0085\u009b\x7f\r\b\u202e\u2066\u200b\u200f" +
	"\ufeff\u00ad\u034f\u3164\U000e0041\u2028\xff\xfe\nairlock: all is well"

// fileName is the same as far as a file's name can hold it.
var fileName = strings.ReplaceAll(steering, "/", "_") + ".js"

// noSteering fails where output holds something that a terminal would act upon, or a line that was forged.
func noSteering(t *testing.T, what, output string) {
	t.Helper()
	if !utf8.ValidString(output) {
		t.Errorf("%s: not UTF-8: %q", what, output)
	}
	for _, r := range output {
		switch {
		case r == '\n' || r == '\t':
		case r < ' ', r >= 0x7f && r < 0xa0, r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e,
			r >= 0x2060 && r <= 0x206f,
			r == 0xad, r == 0x34f, r == 0x3164, r == 0xfeff, r >= 0xe0000 && r <= 0xe01ef:
			t.Errorf("%s: U+%04X is printed raw: %q", what, r, output)
			return
		}
	}
	for line := range strings.Lines(output) {
		if strings.HasPrefix(line, "airlock: all is well") {
			t.Errorf("%s: a line is forged: %q", what, output)
		}
	}
}

// paths returns every command, as the words that name it.
func paths(cmd *cobra.Command, before []string) (out [][]string) {
	out = append(out, before)
	for _, c := range cmd.Commands() {
		if c.Hidden {
			continue // our own processes: they lock themselves in, and speak to the gateway alone
		}
		out = append(out, paths(c, append(before[:len(before):len(before)], c.Name()))...)
	}
	return out
}

func TestNoCommandPrintsWhatSteersATerminal(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile(fileName, []byte("eval('"+strings.NewReplacer("\n", "", "\r", "").Replace(steering)+"');(("),
		0o600); err != nil {
		t.Fatal(err)
	}
	store, err := filerecords.Open("records", filerecords.Config{})
	if err != nil {
		t.Fatal(err)
	}
	r := recordstest.Sample(time.Now())
	r.Caller.Tenant, r.Caller.Subject, r.Policy, r.Status, r.Error = steering, steering, steering, steering, steering
	if err := store.Append(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	stray := filepath.Join("records", "executions", "dt="+time.Now().UTC().Format(time.DateOnly), fileName)
	if err := os.WriteFile(stray, []byte(steering), 0o600); err != nil {
		t.Fatal(err)
	}
	remote := httptest.NewServer(steeringGateway())
	defer remote.Close()
	printed := func(t *testing.T, getenv func(string) string, args ...string) (stdout, stderr string) {
		t.Helper()
		var out, errs bytes.Buffer
		Run(args, getenv, strings.NewReader(steering), &out, &errs)
		for name, text := range map[string]string{"stdout": out.String(), "stderr": errs.String()} {
			noSteering(t, fmt.Sprintf("%q %s", args, name), text)
		}
		return out.String(), errs.String()
	}
	everywhere := func(string) string { return steering }
	for _, path := range paths(rootCommand(terminal.Console{Getenv: env()}), nil) {
		name := strings.Join(path, " ")
		if len(path) > 0 && (path[0] == "completion" || path[0] == "help") {
			continue
		}
		t.Run("airlock "+name, func(t *testing.T) {
			printed(t, env(), append(path, "--"+steering)...)
			printed(t, env(), append(path, "-"+steering)...)
			printed(t, env(), append(path, "--help", steering)...)
			if name == "" || name == "function" || name == "lambda-local" || name == "mcp" {
				return // without a wrong setting it would serve
			}
			printed(t, env("PORT=x"), append(path, "--", steering, steering, steering, steering, steering)...)
			printed(t, everywhere, append(path, "--", steering)...)
			printed(t, everywhere, path...)
		})
	}
	for _, args := range [][]string{
		{steering}, {"scan", steering}, {"scan", fileName}, {"scan", fileName, "--json"}, {"scan", fileName, "--sarif"},
		{"scan", dir},
		{"scan", fileName, "--policy", steering}, {"run", steering}, {"run", "-e", "1", "--policy", steering},
		{"run", "-e", "1", "--timeout", steering},
		{"run", "-e", "1", "--input", steering}, {"run", "-e", "1", "--server", steering},
		{"run", "-e", "throw 1", "--language", steering},
		{"audit", "list", "--store", "records"}, {"audit", "list", "--store", "records", "--json"},
		{"audit", "list", "--store", "records", "--status", steering},
		{"audit", "list", "--store", "records", "--since", steering}, {"audit", "list", "--store", steering},
		{"audit", "show", "--store", "records", r.ID},
		{"audit", "show", "--store", "records", steering}, {"audit", "verify", "--store", "records"},
		{"audit", "verify", "--store", "records", "--json"},
		{"audit", "prune", "--max-age", steering}, {"audit", "list", "--store", "s3://" + steering},
		{"replay", "--store", "records", steering},
		{"token", "--sub", steering}, {"token", "--ttl", steering}, {"__complete", "scan", steering},
		{"completion", steering}, {"help", steering},
	} {
		t.Run(fmt.Sprintf("%.40q", args), func(t *testing.T) {
			stdout, stderr := printed(t, env("JWT_SECRET=a secret of this test with 32 bytes"), args...)
			if stdout+stderr == "" {
				t.Error("nothing was printed")
			}
		})
	}
	for _, args := range [][]string{
		{"functions", "list"}, {"functions", "get", "f"}, {"functions", "get", "f", "--json"}, {"functions", "versions", "f"},
		{"functions", "diff", "f"},
		{"functions", "alias", "f"}, {"functions", "rollback", "f"}, {"functions", "delete", "refused"},
		{"functions", "list", "--json"},
		{"run", "-e", "1", "--json"}, {"functions", "invoke", "f", "--json"}, {"functions", "invoke", "refused"},
		{"functions", "get", "refused"},
	} {
		t.Run(fmt.Sprintf("%q of a gateway", args), func(t *testing.T) {
			if args[len(args)-1] == "f" && args[1] == "get" {
				return // what a function holds is exact in a pipe, as what guests print
			}
			printed(t, env("AIRLOCK_SERVER="+remote.URL), args...)
		})
	}
}

// steeringGateway answers everything with what steers a terminal.
func steeringGateway() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text := steering
		w.Header().Set("Content-Type", "application/json")
		if strings.Contains(r.URL.Path, "refused") {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(409)
			_ = json.NewEncoder(w).Encode(map[string]any{"status": 409, "title": text, "detail": text, "error": text,
				"code": text, "field": text})
			return
		}
		item := map[string]any{"name": text, "version": 1, "createdAt": text, "createdBy": text, "codeSha256": text,
			"aliases": []string{text}, "alias": text, "movedAt": text}
		if !strings.Contains(r.URL.Path, "/versions") {
			item["aliases"] = map[string]int{text: 1}
		}
		answer := map[string]any{
			"items": []any{item}, "next": nil, "code": text, "from": 1, "to": 2,
			"fields": []any{map[string]any{"field": text, "from": text, "to": text}},
			"files":  map[string]string{text: "+" + strings.ReplaceAll(text, "\n", "")}, "id": "exec_01JD5Z6Q8V0000000000000000",
			"status": "error", "error": text,
			"logs": []any{}, "result": text, "alias": text, "version": 1, "name": text,
		}
		if strings.Contains(r.URL.Path, "/versions/") || r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/f") {
			answer["files"] = map[string]any{}
		}
		_ = json.NewEncoder(w).Encode(answer)
	})
}
