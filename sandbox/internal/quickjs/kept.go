package quickjs

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
)

// What is kept in the cache folder ends with the hash of the rest, so that half a file is never used.

var errHalf = errors.New("the file is incomplete")

// readKept returns what writeKept wrote.
func readKept(path string) ([]byte, error) {
	file, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return whole(file)
}

// whole returns the content of a file that writeKept wrote.
func whole(file []byte) ([]byte, error) {
	body := file[:max(0, len(file)-sha256.Size)]
	if sum := sha256.Sum256(body); !bytes.Equal(sum[:], file[len(body):]) {
		return nil, errHalf
	}
	return body, nil
}

// writeKept replaces the file at path in one step.
func writeKept(path string, body []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".kept-")
	if err != nil {
		return err
	}
	sum := sha256.Sum256(body)
	_, err = f.Write(body)
	if err == nil {
		_, err = f.Write(sum[:])
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}
