package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestStateCopyCommand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	if err := os.Mkdir(from, 0o700); err != nil {
		t.Fatal(err)
	}
	anchors := filepath.Join(from, "anchors")
	if err := os.Mkdir(anchors, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(anchors, "1.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		args []string
		code int
		says string
	}{
		{"copies", []string{from, to}, 0, "anchors    1"},
		{"refuses what is not empty", []string{from, to}, exitPlatform, "--resume"},
		{"resumes", []string{from, to, "--resume"}, 0, "anchors    1"},
		{"refuses itself", []string{from, from}, 2, "the same"},
		{"refuses what does not exist", []string{from + "x", to}, 2, "FROM"},
		{"refuses what is no state", []string{dir, to + "2"}, 2, "holds no state"},
		{"hides passwords", []string{from, "postgres://u:hunter2@127.0.0.1:1/d"}, exitPlatform, "postgres://127.0.0.1:1/d"},
		{"refuses other stores", []string{from, "mysql://u:hunter2@h/d"}, 2, "postgres://user@host/database"},
	} {
		code, out, errs := command(t, env(), append([]string{"state", "copy"}, c.args...)...)
		if code != c.code || !strings.Contains(out+errs, c.says) || strings.Contains(out+errs, "hunter2") {
			t.Errorf("%s: %d\n%s%s", c.name, code, out, errs)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "state.db")); err == nil {
		t.Error("a state was made in the folder that should have been copied")
	}
}
