package sandbox_test

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/airlock-run/airlock/sandbox"
)

// Preparing a script opens no file, even one that a comment of the script names as its source map.
func TestSourceMapCommentsOpenNothing(t *testing.T) {
	e := newEngine(t)
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, comment := range []string{"//# sourceMappingURL=file://" + pipe,
		"/*@ sourceMappingURL=file://localhost" + pipe + " */"} {
		files := map[string][]byte{"n.js": []byte("export default 7;\n" + comment)}
		for _, s := range []sandbox.Script{
			{Code: "import n from './n.js';\nn", Files: files},
			{Code: "import n from './m.js';\nn\n" + comment, Files: map[string][]byte{"m.js": []byte("export default 7")}},
			{Code: "import n from './n.js';\nn as number\n" + comment, Files: files, TypeScript: true},
			{Code: "(7 as number)\n" + comment, TypeScript: true},
		} {
			done := make(chan sandbox.Result, 1)
			go func() { done <- run(t, e, s, sandbox.Grants{}) }()
			for waiting := true; waiting; {
				select {
				case r := <-done:
					if waiting = false; string(r.Value) != "7" {
						t.Errorf("%q: %s, %s", s.Code, r.Value, r.Error)
					}
				case <-time.After(time.Millisecond):
					// Opening a pipe to write succeeds only while somebody has it open to read.
					if fd, err := syscall.Open(pipe, syscall.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
						_ = syscall.Close(fd)
						t.Errorf("%q: the pipe is read", s.Code)
					}
				}
			}
		}
	}
}
