package dynamostate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/s3objects"
	"github.com/airlock-run/airlock/infra/state/dynamostate"
	"github.com/airlock-run/airlock/infra/state/transfer"
)

// An answer that DynamoDB never ends, or that has what was not asked for, is an error of the store.
func TestAnswersWithoutEnd(t *testing.T) {
	t.Parallel()
	long := `{"pk":{"S":"` + strings.Repeat("p", 2049) + `"},"sk":{"S":"-"},"list":{"S":"x"},"at":{"S":"!"}}`
	entry := `{"pk":{"S":"job#exec_1"},"sk":{"S":"-"},"list":{"S":"x"},"at":{"S":"%s"},"paused":{"S":"x"}}`
	for name, c := range map[string]struct{ items, behind string }{
		"empty pages":        {"", `{"pk":{"S":"%d"}}`},
		"the same place":     {fmt.Sprintf(entry, "!"), `{"pk":{"S":"a"}}`},
		"before the start":   {fmt.Sprintf(entry, ""), `{"pk":{"S":"%d"}}`},
		"behind the end":     {fmt.Sprintf(entry, "~~"), `{"pk":{"S":"%d"}}`},
		"items without keys": {"{}", `{"pk":{"S":"%d"}}`},
		"long keys":          {long, `{"pk":{"S":"%d"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pages := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/x-amz-json-1.0")
				if target := r.Header.Get("X-Amz-Target"); !strings.HasSuffix(target, ".Query") &&
					!strings.HasSuffix(target, ".Scan") {
					_, _ = io.WriteString(w, "{}")
					return
				}
				var request map[string]any
				_ = json.NewDecoder(r.Body).Decode(&request)
				pages++
				behind := c.behind
				if strings.Contains(behind, "%") {
					behind = fmt.Sprintf(behind, pages)
				}
				_, _ = fmt.Fprintf(w, `{"Count":0,"Items":[%s],"LastEvaluatedKey":%s}`, c.items, behind)
			}))
			s := stateAt(t, server)
			for what, ask := range map[string]func(ctx context.Context) error{
				"Functions": func(ctx context.Context) error { _, err := s.Functions(ctx, "t", "", 10); return err },
				"Scheduled": func(ctx context.Context) error { _, err := s.Scheduled(ctx, "", "", 10); return err },
				"Due":       func(ctx context.Context) error { _, err := s.Due(ctx, time.Now(), 10); return err },
				"Orphans":   func(ctx context.Context) error { _, err := s.Orphans(ctx); return err },
				"Prune":     func(ctx context.Context) error { return s.Prune(ctx, time.Now(), time.Now()) },
				"Jobs": func(ctx context.Context) error {
					_, _, err := s.Jobs(ctx, "t", "", execution.Queued, "", 10)
					return err
				},
				"Export": func(ctx context.Context) error {
					return dynamostate.Transfer{Store: s}.Export(ctx, func(transfer.Item) error { return nil })
				},
			} {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				fault := (*execution.StoreError)(nil)
				if err := ask(ctx); !errors.As(err, &fault) && what != "Export" {
					t.Errorf("%s: %v", what, err)
				}
				if ctx.Err() != nil {
					t.Errorf("%s does not end", what)
				}
				cancel()
			}
		})
	}
}

// What a query keeps of items that never end, in ascending order and with keys of the longest kind, has a bound of
// bytes.
func TestItemsWithoutEndInMemory(t *testing.T) {
	t.Parallel()
	const inPage = 100
	id, pages := strings.Repeat("p", 1000), 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		if !strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".Query") {
			_, _ = io.WriteString(w, "{}")
			return
		}
		pages++
		_, _ = io.WriteString(w, `{"Items":[`)
		for n := range inPage {
			place := fmt.Sprintf("%s/%08d", strings.Repeat("0", 13), pages*inPage+n)
			_, _ = fmt.Fprintf(w, `{"pk":{"S":"job#%s%s"},"sk":{"S":"%s%s"},"list":{"S":"x"},"at":{"S":"%s"}},`, place, id,
				place, id, place)
		}
		_, _ = fmt.Fprintf(w, `{"pk":{"S":"job#"},"sk":{"S":"~"},"at":{"S":"}"}}],`+
			`"LastEvaluatedKey":{"pk":{"S":"%d"}}}`, pages)
	}))
	s := stateAt(t, server)
	s.Keep(1 << 20)
	for what, ask := range map[string]func(ctx context.Context) error{
		"Scheduled": func(ctx context.Context) error { _, err := s.Scheduled(ctx, "", "", 10); return err },
		"Orphans":   func(ctx context.Context) error { _, err := s.Orphans(ctx); return err },
		"Jobs": func(ctx context.Context) error {
			_, _, err := s.Jobs(ctx, "t", "", execution.Running, "", 10)
			return err
		},
		"Beat": s.Beat,
	} {
		pages = 0
		fault := (*execution.StoreError)(nil)
		if err := ask(t.Context()); !errors.As(err, &fault) {
			t.Errorf("%s: %v", what, err)
		}
		if pages > 20 {
			t.Errorf("%s read %d pages", what, pages)
		}
	}
}

// stateAt returns the state that a server keeps, and ends both with the test.
func stateAt(t *testing.T, server *httptest.Server) *dynamostate.Store {
	t.Helper()
	t.Cleanup(server.Close)
	s, err := dynamostate.Open(t.Context(), "dynamodb://table?contents=s3://bucket/x", dynamostate.Config{
		DeadAfter: time.Hour, Access: dynamostate.Access{Endpoint: server.URL, Attempts: 1,
			Objects: s3objects.Access{Endpoint: server.URL, Region: "a"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}
