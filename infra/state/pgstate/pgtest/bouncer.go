package pgtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/airlock-run/airlock/infra/internal/testserver"
)

// bouncerConfig makes PgBouncer assign another session to each transaction. A session that waits longest is next.
const bouncerConfig = `[databases]
* = host=%s user=postgres
[pgbouncer]
listen_port = 6432
unix_socket_dir = %s
auth_type = any
pool_mode = transaction
server_round_robin = 1
default_pool_size = 4
max_client_conn = 1000
`

// Bouncer starts a PgBouncer from Debian's package in front of the server, which pools by transaction, and returns a
// func that changes the URL of a database so that it leads through the PgBouncer. It skips the test if PgBouncer is not
// installed.
func (s *Server) Bouncer(t testing.TB) (through func(url string) string) {
	t.Helper()
	const program = "/usr/sbin/pgbouncer"
	if _, err := os.Stat(program); err != nil {
		t.Skip("PgBouncer is not installed")
	}
	dir, err := os.MkdirTemp("", "bouncer") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "pgbouncer.ini")
	if err := os.WriteFile(config, fmt.Appendf(nil, bouncerConfig, s.Dir, dir), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := giveAway(dir); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "--quiet", config)
	cmd.Dir, cmd.SysProcAttr = dir, unprivileged()
	ended, err := testserver.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended already
		<-ended
		_ = os.RemoveAll(dir) // a folder that remains does not affect other tests
	})
	through = func(url string) string {
		t.Helper()
		there := strings.Replace(url, "?host="+s.Dir, "?port=6432&host="+dir, 1)
		if there == url {
			t.Fatalf("%s is not a URL of this server", url)
		}
		return there
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		conn, err := pgx.Connect(ctx, through(s.url("postgres")))
		if err == nil {
			if err := conn.Close(ctx); err != nil {
				t.Fatal(err)
			}
			return through
		}
		select {
		case <-ctx.Done():
			t.Fatalf("PgBouncer does not answer: %v", err)
		case <-tick.C:
		}
	}
}
