package quickjs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
)

// What is kept in the cache folder ends with a checksum of the rest, so that half a file is never used. The checksum is
// CRC-32C, as in wazero's cache: SHA-256 took 2.5 ms of every start. It does not protect from anybody who may write
// there; functions/process checks the folder's owner and mode.

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var errHalf = errors.New("the file is incomplete")

// readKept returns the content that writeKept wrote.
func readKept(path string) ([]byte, error) {
	file, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return whole(file)
}

// whole returns the content of a file that writeKept wrote.
func whole(file []byte) ([]byte, error) {
	body := file[:max(0, len(file)-crc32.Size)]
	if !bytes.Equal(checksum(body), file[len(body):]) {
		return nil, errHalf
	}
	return body, nil
}

func checksum(body []byte) []byte {
	return binary.BigEndian.AppendUint32(nil, crc32.Checksum(body, castagnoli))
}

// writeKept replaces the file at path in one step.
func writeKept(path string, body []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".kept-")
	if err != nil {
		return err
	}
	_, err = f.Write(body)
	if err == nil {
		_, err = f.Write(checksum(body))
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}
