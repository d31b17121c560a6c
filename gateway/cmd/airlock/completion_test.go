package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Each shell completes by the script that is generated for it. %[1]s is the line, %[2]d the number of its words.
var completionScripts = map[string]string{
	"bash": `source /usr/share/bash-completion/bash_completion || exit 9
		source <(airlock completion bash)
		COMP_LINE=%[1]q; COMP_POINT=${#COMP_LINE}; COMP_TYPE=9
		read -ra COMP_WORDS <<<"$COMP_LINE"; [[ $COMP_LINE == *" " ]] && COMP_WORDS+=("")
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		__start_airlock; printf '%%s\n' "${COMPREPLY[@]}"`,
	"zsh": `compdef() {}; _describe() { print -l -- $completions }; compadd() {}
		source <(airlock completion zsh)
		line=%[1]q; words=(${(s: :)line}); [[ $line == *" " ]] && words+=("")
		CURRENT=${#words}; _airlock`,
	"fish": `source (airlock completion fish | psub); complete -C %[1]q`,
}

func TestCompletionInShells(t *testing.T) {
	t.Parallel()
	gateway := start(t, "RATE_LIMIT_MAX_REQUESTS=1000")
	dir := t.TempDir()
	wrapper := fmt.Sprintf("#!/bin/sh\nAIRLOCK_TEST_AS_PROGRAM=1 AIRLOCK_SERVER=%s exec %s \"$@\"\n", gateway.url,
		os.Args[0])
	if err := os.WriteFile(filepath.Join(dir, "airlock"), []byte(wrapper), 0o700); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(dir, "f.js")
	if err := os.WriteFile(script, []byte("1"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := command(t, env("AIRLOCK_SERVER="+gateway.url), "functions", "put", "greeter", script); code != 0 {
		t.Fatal(errs)
	}
	for shell, text := range completionScripts {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			program, err := exec.LookPath(shell)
			if err != nil {
				t.Skipf("%s is not installed", shell)
			}
			if _, err := os.Stat("/usr/share/bash-completion/bash_completion"); shell == "bash" && err != nil {
				t.Skip("bash-completion is not installed")
			}
			for line, want := range map[string]string{
				"airlock ru":                   "run",
				"airlock run --policy ":        "strict standard extended agent",
				"airlock run --language ty":    "typescript",
				"airlock run --wat":            "--watch",
				"airlock functions ":           "alias delete diff get invoke list put rollback versions",
				"airlock functions invoke ":    "greeter",
				"airlock audit ex":             "export",
				"airlock audit list --status ": "completed error timeout blocked cancelled",
				"airlock scan --policy exte":   "extended",
			} {
				cmd := exec.CommandContext(t.Context(), program, "-c", fmt.Sprintf(text, line))
				cmd.Env = []string{"PATH=" + dir + ":" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				got := map[string]bool{}
				for row := range strings.Lines(string(out)) {
					if fields := strings.FieldsFunc(row, func(r rune) bool {
						return r == ' ' || r == '\t' || r == '\n' ||
							r == ':'
					}); len(fields) > 0 {
						got[fields[0]] = true
					}
				}
				for word := range strings.FieldsSeq(want) {
					if !got[word] {
						t.Errorf("%q does not offer %s:\n%s", line, word, out)
					}
				}
			}
		})
	}
}
