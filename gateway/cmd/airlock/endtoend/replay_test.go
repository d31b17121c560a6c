package endtoend_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/airlock-run/airlock/functions/runner"
	"github.com/airlock-run/airlock/infra/records/filerecords"
	"github.com/airlock-run/airlock/policy/audit"
	"github.com/airlock-run/airlock/sandbox"
)

// replaying is the engine of all replays in this program.
var replaying = sync.OnceValues(func() (*sandbox.Engine, error) {
	return sandbox.New(context.Background(), sandbox.Config{CacheDir: filepath.Join(os.TempDir(), "airlock-test-cache")})
})

// irreplayable are the only reasons for which a record may not be repeated.
var irreplayable = []string{
	"it was blocked: nothing ran", "nothing ran: the result of", "it was cancelled, and its record",
	"its function ended without a response",
	"its journal grew too large",
}

// replayed replays every execution that a test recorded, from its record alone, and compares the results.
func replayed(t testing.TB, records *filerecords.Store, mode string) {
	t.Helper()
	engine, err := replaying()
	if err != nil {
		t.Fatal(err)
	}
	r, err := runner.New(runner.Config{Sandbox: engine, Policy: decider(mode), Records: records})
	if err != nil {
		t.Fatal(err)
	}
	same, left := 0, map[string]int{}
	ctx := context.Background()
	for cursor := ""; ; {
		page, err := records.List(ctx, audit.Query{Limit: 500, Cursor: cursor})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range page.Items {
			rec, err := records.Get(ctx, s.ID)
			if err != nil {
				t.Fatal(err)
			}
			again, err := r.Replay(ctx, rec)
			switch {
			case err == nil && len(again.Differences) == 0:
				same++
			case err == nil:
				t.Errorf("%s, repeated, differs:\n%s\ncode: %.300s", rec.ID, strings.Join(again.Differences, "\n"), rec.Code)
			default:
				why := ""
				for _, reason := range irreplayable {
					if strings.HasPrefix(err.Error(), reason) {
						why = reason
					}
				}
				if why == "" {
					t.Errorf("%s cannot be repeated: %v\ncode: %.300s", rec.ID, err, rec.Code)
				}
				left[why]++
			}
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	t.Logf("%d executions repeated from their records and found the same; left out: %s", same, fmt.Sprint(left))
	if same == 0 {
		t.Error("nothing was repeated")
	}
}
