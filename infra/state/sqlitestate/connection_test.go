package sqlitestate

import (
	"database/sql"
	"testing"
)

// A connection opens while a transaction writes, so that reading never waits for a slow disk.
func TestConnectionBesideWriter(t *testing.T) {
	t.Parallel()
	s, err := Open(t.TempDir(), Config{})
	if err != nil {
		t.Fatal(err)
	}
	tx, release, err := s.begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", dataSource(s.path(), 0))
	if err != nil {
		t.Fatal(err)
	}
	if err := db.PingContext(t.Context()); err != nil {
		t.Error(err)
	}
	if err := tx.Rollback(); err != nil {
		t.Error(err)
	}
	release()
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
