package quickjs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
)

// What is kept in the cache folder ends with a checksum of the rest, so that half a file is never used. The checksum is
// CRC-32C, as in wazero's cache: SHA-256 took 2.5 ms of every start. It does not protect from anybody who may write
// there; functions/process checks the folder's owner and mode.

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var errHalf = errors.New("the file is incomplete")

// A keptReader reads the content of a file that writeKept wrote. Only verify says whether it was the content.
type keptReader struct {
	file *os.File
	left int64 // of the content, in bytes
	sum  uint32
}

func openKept(path string) (*keptReader, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && info.Size() < crc32.Size {
		err = errHalf
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &keptReader{file: file, left: info.Size() - crc32.Size}, nil
}

// Read implements io.Reader.
func (k *keptReader) Read(p []byte) (int, error) {
	if k.left == 0 {
		return 0, io.EOF
	}
	n, err := k.file.Read(p[:min(int64(len(p)), k.left)])
	k.left -= int64(n)
	k.sum = crc32.Update(k.sum, castagnoli, p[:n])
	return n, err
}

// verify returns an error unless the content has been read to its end and has the checksum that was written with it.
func (k *keptReader) verify() error {
	var sum [crc32.Size]byte
	if _, err := io.ReadFull(k.file, sum[:]); err != nil {
		return errors.Join(errHalf, err)
	}
	if k.left > 0 || binary.BigEndian.Uint32(sum[:]) != k.sum {
		return errHalf
	}
	return nil
}

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
