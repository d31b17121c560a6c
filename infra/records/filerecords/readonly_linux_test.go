package filerecords_test

import (
	"errors"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/airlock-run/airlock/infra/records/filerecords"
	"github.com/airlock-run/airlock/infra/records/recordstest"
	"github.com/airlock-run/airlock/infra/state/statetest"
)

// The kernel refuses to make a file system read-only while a store has a file there open for writing. On a read-only
// file system a store opens for reading only, and its chains are valid.
func TestReadOnlyFileSystem(t *testing.T) {
	disk := statetest.NewDisk(t, 4<<20)
	if disk == nil {
		return
	}
	s, err := filerecords.Open(disk.Dir, filerecords.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Append(t.Context(), recordstest.Sample(time.Now())); err != nil {
		t.Fatal(err)
	}
	if err := disk.Remount(true); !errors.Is(err, unix.EBUSY) {
		t.Errorf("below an open store: %v", err)
	}
	if err := errors.Join(s.Append(t.Context(), recordstest.Sample(time.Now())), s.Ready(t.Context())); err != nil {
		t.Errorf("after the refused remount: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := disk.Remount(true); err != nil {
		t.Fatal(err)
	}
	if s, err := filerecords.Open(disk.Dir, filerecords.Config{}); err == nil {
		_ = s.Close()
		t.Error("a store on a read-only file system was opened for writing")
	}
	reader, err := filerecords.OpenReader(disk.Dir, filerecords.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reader.Close() }()
	if report, err := reader.Verify(t.Context()); err != nil || !report.OK() || report.Records != 2 {
		t.Errorf("%+v, %v", report, err)
	}
}
