package smallfile_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/process/smallfile"
)

// TestRead checks what is read of files, devices, folders and pipes.
func TestRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, silent, written := filepath.Join(dir, "file"), filepath.Join(dir, "silent"), filepath.Join(dir, "written")
	if err := os.WriteFile(file, []byte("1234"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, pipe := range []string{silent, written} {
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	writer, err := os.OpenFile(written, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := writer.WriteString("56"); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(100*time.Millisecond, func() { _ = writer.Close() }) // after Read has begun to wait
	for _, c := range []struct {
		name string
		most int64
		want string // the content, or a part of the error
	}{
		{file, 4, "1234"},
		{file, 3, "has more than 3 bytes"},
		{dir, 4, "is a folder"},
		{"/dev/zero", 4096, "has more than 4096 bytes"},
		{"/dev/null", 4, ""},
		{silent, 4, "a pipe to which nobody writes"},
		{written, 4, "56"},
		{filepath.Join(dir, "none"), 4, "no such file"},
	} {
		text, err := smallfile.Read(c.name, c.most)
		got := string(text)
		if err != nil {
			got = err.Error()
		}
		if (err == nil && got != c.want) || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
