package wiring

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/airlock-run/airlock/functions/process/smallfile"
	"github.com/airlock-run/airlock/gateway/waits"
	"github.com/airlock-run/airlock/gateway/wiring/settings"
)

// snapshotKeyFile holds the key of the snapshots of paused executions in a folder of state.
const snapshotKeyFile = "snapshots.key"

// maxSnapshotKey bounds that file.
const maxSnapshotKey = 4096

// SnapshotKeyFile returns the path of the key that a folder of state made for itself; "" if there is none.
func SnapshotKeyFile(state string) string {
	path := filepath.Join(state, snapshotKeyFile)
	if settings.IsShared(state) || settings.IsBucket(state) {
		return ""
	}
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

// snapshotKeys returns the keys of the snapshots of paused executions: those of SNAPSHOT_KEYS, or one that is kept in
// the folder of state. It returns nil if there is neither, and then no execution may pause.
func snapshotKeys(set settings.Settings) (*waits.Keys, error) {
	state := set.State
	if set.SnapshotKeys != nil || state == "" || settings.IsShared(state) {
		return set.SnapshotKeys, nil
	}
	path := filepath.Join(state, snapshotKeyFile)
	text, err := smallfile.Read(path, maxSnapshotKey)
	if errors.Is(err, fs.ErrNotExist) {
		text, err = makeSnapshotKey(path)
	}
	if err != nil {
		return nil, fmt.Errorf("AIRLOCK_STATE: the key of snapshots: %w", err)
	}
	keys, err := waits.ParseKeys(strings.TrimSpace(string(text)))
	if err != nil {
		return nil, fmt.Errorf("AIRLOCK_STATE: %s %w", path, err)
	}
	return keys, nil
}

// makeSnapshotKey makes the file of a new key, unless another process has made it, and returns what it holds.
func makeSnapshotKey(path string) ([]byte, error) {
	temporary, err := os.CreateTemp(filepath.Dir(path), snapshotKeyFile+"-*") // only its owner can read it
	if err != nil {
		return nil, err
	}
	_, err = temporary.WriteString(waits.NewKey("local") + "\n")
	err = errors.Join(err, temporary.Sync(), temporary.Close())
	if err == nil {
		if err = os.Link(temporary.Name(), path); errors.Is(err, fs.ErrExist) {
			err = nil
		}
	}
	if err = errors.Join(err, os.Remove(temporary.Name())); err != nil {
		return nil, err
	}
	return smallfile.Read(path, maxSnapshotKey)
}
