package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	client "github.com/airlock-run/airlock/gateway/client/go"
)

// The life of a saved function, from the command line against a real gateway.
func TestFunctionsCommand(t *testing.T) {
	t.Parallel()
	p := start(t, "RATE_LIMIT_MAX_REQUESTS=1000", "API_KEY=sk-of-the-tests-here")
	dir := t.TempDir()
	for name, text := range map[string]string{
		"one.js":          "export default ({name}) => { console.log('hello'); return 'one ' + name }",
		"two.ts":          "export default ({name}: {name: string}): string => 'two ' + name + env.REGION",
		"shop/main.js":    "import { price } from './price.js'; export default () => price",
		"shop/price.js":   "export const price = 9",
		"shop/.hidden":    "secret",
		"secret.txt":      "whsec_c2VjcmV0LW9mLXRoZS10ZXN0cw==\n",
		"input.json":      `{"name": "Ada"}`,
		"definition.json": `{"code": "input", "schedule": {"cron": "0 9 * * 1-5", "timeZone": "Europe/Berlin"}}`,
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	getenv := env("AIRLOCK_SERVER="+p.url, "AIRLOCK_TOKEN=sk-of-the-tests-here")
	for _, step := range []struct {
		args   string
		code   int
		stdout string // parts of one line in order, which the output must contain
		stderr string
	}{
		{"list", 0, "NAME", ""},
		{"put greet " + in("one.js") + " --policy strict", 0, "greet version 1\n", ""},
		{"put greet " + in("one.js") + " --policy strict", 0, "greet version 1\n", ""},
		{"put greet " + in("two.ts") + " --env REGION=eu --timeout 2s", 0, "greet version 2\n", ""},
		{"put greet " + in("one.js") + " --policy strikt", 2, "", "unknown policy"},
		{"put greet " + in("one.js") + " --entry x.js", 2, "", "--entry: needs a folder"},
		{"put shop " + in("shop"), 0, "shop version 1\n", ""},
		{"put report --definition " + in("definition.json"), 0, "report version 1\n", ""},
		{"put deploys " + in("one.js") + " --hook standard --hook-secret " + in("secret.txt"), 0, "deploys version 1\n", ""},
		{"put deploys " + in("one.js") + " --hook-secret " + in("secret.txt"), 2, "", "--hook-secret: needs --hook"},
		{"put nothing", 2, "", "give a file"},
		{"list", 0, "deploys", ""},
		{"get greet --alias latest", 0, "'two ' + name", ""},
		{"get greet --version 1", 0, "'one ' + name", ""},
		{"get shop", 0, "main.js", ""},
		{"get report --json", 0, `"cron": "0 9 * * 1-5"`, ""},
		{"get deploys --json", 0, `"scheme": "standard"`, ""},
		{"get nobody", 2, "", "no function"},
		{"invoke greet --input @" + in("input.json"), 0, "\"two Adaeu\"\n", ""},
		{"invoke greet --version 1 --input @" + in("input.json"), 0, "hello\n\"one Ada\"\n", ""},
		{"invoke greet --input {", 2, "", "--input: is not valid JSON"},
		{"invoke greet --version 1 --alias latest", 2, "", "none of the others can be"},
		{"invoke greet", 1, "", "TypeError"},
		{"invoke shop --json", 0, `"result": 9`, ""},
		{"versions greet", 0, "latest", ""},
		{"diff greet", 0, "+export default ({name}: {name: string})", ""},
		{"diff greet 1 1", 0, "are the same", ""},
		{"diff greet x", 2, "", "is not the number of a version"},
		{"alias greet live 1", 0, "live → version 1\n", ""},
		{"alias greet live 2", 0, "live → version 2 (before: 1)\n", ""},
		{"rollback greet live", 0, "live → version 1", ""},
		{"invoke greet --alias live --input @" + in("input.json"), 0, "\"one Ada\"\n", ""},
		{"alias greet", 0, "latest → version 2 (before: 1)\nlive → version 1", ""},
		{"alias greet live", 2, "", "give the version"},
		{"alias greet live --delete", 0, "", ""},
		{"alias greet --delete", 2, "", "give the name of one alias"},
		{"delete greet", 0, "", ""},
		{"get greet", 2, "", "no function"},
		{"lst", 2, "", "did you mean list?"},
	} {
		code, out, errs := command(t, getenv, append([]string{"functions"}, strings.Fields(step.args)...)...)
		if code != step.code {
			t.Errorf("%s: exit %d, want %d\n%s%s", step.args, code, step.code, out, errs)
		}
		contains(t, step.args+": stdout", out, step.stdout)
		contains(t, step.args+": stderr", errs, step.stderr)
		if step.stderr == "" && code == 0 && errs != "" {
			t.Errorf("%s: stderr is %q, want nothing", step.args, errs)
		}
	}
	_, out, _ := command(t, getenv, "functions", "get", "shop", "--json")
	var saved client.Saved
	if err := json.Unmarshal([]byte(out), &saved); err != nil || len(saved.Files) != 2 || saved.Entry != "main.js" {
		t.Errorf("%v: %s", err, out)
	}
	_, out, _ = command(t, getenv, "functions", "get", "deploys", "--json")
	if strings.Contains(out, "c2VjcmV0") {
		t.Errorf("the secret of a hook is shown: %s", out)
	}
}

// The same scripts with the same exit codes as in this process, run by a gateway.
func TestRunOnAGateway(t *testing.T) {
	t.Parallel()
	p := start(t, "RATE_LIMIT_MAX_REQUESTS=1000", "API_KEY=sk-of-the-tests-here")
	for _, c := range []struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		{[]string{"-e", "console.log('out'); console.error('err'); 6 * 7"}, 0, "out\n42\n", "err\n"},
		{[]string{"-e", "input.n", "--input", `{"n": 3}`, "--json"}, 0, `"result": 3`, ""},
		{[]string{"-e", "throw new TypeError('no')"}, 1, "", "TypeError: no"},
		{[]string{"-e", "throw new TypeError('no')", "--json"}, 1, `"status": "error"`, ""},
		{[]string{"-e", "1", "--policy", "strikt"}, 2, "", "did you mean strict?"},
		{[]string{"-e", "1", "--store", "/tmp/x"}, 2, "", "--store:"},
		{[]string{"-e", "require('child_process').execSync('id')"}, 3, "", "blocked by policy"},
		{[]string{"-e", "for (;;);", "--timeout", "20ms"}, 4, "", "timed out"},
		{[]string{"-e", "1", "--token", "wrong"}, 2, "", "give --token or AIRLOCK_TOKEN"},
		{[]string{"-e", "1", "--server", "example.com"}, 2, "", "is not the address of a gateway"},
		{[]string{"-e", "1", "--server", "http://192.0.2.1"}, 2, "", "over https only"},
		{[]string{"-e", "1", "--server", "http://127.0.0.1:1"}, 5, "", "is airlock serve running there?"},
	} {
		code, out, errs := command(t, env("AIRLOCK_SERVER="+p.url, "AIRLOCK_TOKEN=sk-of-the-tests-here"),
			append([]string{"run"}, c.args...)...)
		if code != c.code {
			t.Errorf("%v: exit %d, want %d\n%s%s", c.args, code, c.code, out, errs)
		}
		contains(t, fmt.Sprint(c.args, ": stdout"), out, c.stdout)
		contains(t, fmt.Sprint(c.args, ": stderr"), errs, c.stderr)
		if c.stdout == "" && out != "" {
			t.Errorf("%v: stdout is %q, want nothing", c.args, out)
		}
	}
}
