// Package smallfile reads the files that settings and flags name. Whatever is at a path, a device or a pipe too,
// reading ends, and takes no more memory than the caller allows.
package smallfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// patience is how long the writer of a pipe may take.
const patience = 10 * time.Second

// Read returns the content of a file of at most most bytes.
func Read(name string, most int64) ([]byte, error) {
	file, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe without a writer must not make it wait
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was opened for reading only
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, fmt.Errorf("%s is a folder", name)
	}
	if err := file.SetReadDeadline(time.Now().Add(patience)); err != nil && !errors.Is(err, os.ErrNoDeadline) {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(file, most+1))
	switch {
	case err != nil:
		return nil, err
	case int64(len(text)) > most:
		return nil, fmt.Errorf("%s has more than %d bytes", name, most)
	case len(text) == 0 && info.Mode()&fs.ModeNamedPipe != 0:
		return nil, fmt.Errorf("%s is a pipe to which nobody writes", name)
	}
	return text, nil
}
