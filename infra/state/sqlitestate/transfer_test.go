package sqlitestate_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/state/sqlitestate"
	"github.com/airlock-run/airlock/infra/state/transfer"
)

// A copy of a state that somebody else has made ends, and loads nothing that no gateway stores, whatever the tables are
// and the rows say.
func TestExportOfEndlessStates(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ change, says string }{
		"a view without end": {"DROP TABLE gone; CREATE VIEW gone AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT " +
			"x + 1 FROM c) SELECT 't' AS tenant, 'u' || x AS url, 0 AS until FROM c", `"gone" of the state is computed`},
		"a virtual table": {"CREATE VIRTUAL TABLE f USING fts5(a)", "of the state is computed"},
		"a computed column": {"DROP TABLE gone; CREATE TABLE gone (tenant TEXT, until INTEGER, " +
			"url TEXT AS (hex(zeroblob(9e8))))", `"gone" of the state is computed`},
		"a function that repeats": {"UPDATE functions SET doc = replace(doc, '\"name\":\"f\"', '\"name\":\"\"')",
			"under the name of another"},
		"a long document": {"UPDATE functions SET doc = zeroblob(40000000)", "column doc of functions has more than"},
		"a long name": {"UPDATE functions SET name = replace(hex(zeroblob(1000000)), '00', 'é')",
			"column name of functions"},
		"a long content": {"UPDATE versions SET content = zeroblob(90000000)", "column content of versions"},
		"a long key": {"INSERT INTO deliveries (key, mark, until, owner) VALUES (hex(zeroblob(600000)), '', 9e12, '')",
			"column key of deliveries"},
		"a long answer": {"INSERT INTO deliveries (key, mark, until, owner, answer) " +
			"VALUES ('', '', 9e12, '', zeroblob(70000000))", "column answer of deliveries"},
		"a long subject": {"INSERT INTO jobs (id, tenant, status, priority, not_before, owner, cancel, doc, request, " +
			"subject) VALUES ('', '', '', 0, 0, '', 0, '', '', hex(zeroblob(600000)))", "column subject of jobs"},
		"a long URL": {"INSERT INTO gone (tenant, url, until) VALUES ('', hex(zeroblob(600000)), 9e12)",
			"column url of gone"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s, err := sqlitestate.Open(dir, sqlitestate.Config{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { shut(t, s) })
			if err := s.Change(t.Context(), "", "f", add("1")); err != nil {
				t.Fatal(err)
			}
			db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "state.db"))
			if err != nil {
				t.Fatal(err)
			}
			_, err = db.ExecContext(t.Context(), c.change)
			if err = errors.Join(err, db.Close()); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			err = sqlitestate.Transfer{Store: s}.Export(ctx, func(transfer.Item) error { return nil })
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

// A copy passes every job once, in the order of their arrival.
func TestExportOfJobs(t *testing.T) {
	t.Parallel()
	s, err := sqlitestate.Open(t.TempDir(), sqlitestate.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shut(t, s) })
	want := []string{"exec_0000000002", "exec_0000000001", "exec_0000000003"}
	for _, id := range want {
		if err := s.Submit(t.Context(), execution.Job{ID: id, Status: execution.Queued}); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	err = sqlitestate.Transfer{Store: s}.Export(t.Context(), func(i transfer.Item) error {
		got = append(got, i.Job.ID)
		return nil
	})
	if err != nil || strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("%v, %v", got, err)
	}
}
