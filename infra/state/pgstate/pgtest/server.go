package pgtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/airlock-run/airlock/infra/internal/testserver"
)

// A Server is a server on a Unix socket in a temporary folder. Stop must be called.
type Server struct {
	// Dir is where its socket is.
	Dir    string
	bin    string
	root   string
	flags  []string
	cmd    *exec.Cmd
	exited <-chan error
	named  atomic.Int64
}

// Durable makes a server flush like one in production.
var Durable = []string{"-c", "fsync=on", "-c", "synchronous_commit=on"}

// Installed reports whether this machine has Postgres.
func Installed() bool { return programs() != "" }

// programs returns the folder of the newest installed version, or "".
func programs() string {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if len(found) == 0 {
		return ""
	}
	return filepath.Dir(slices.Max(found))
}

// New starts a server for a test as Start does, and stops it when the test ends. It skips the test if Postgres is not
// installed.
func New(t testing.TB, flags ...string) *Server {
	t.Helper()
	if !Installed() {
		t.Skip("Postgres is not installed")
	}
	s, err := Start(flags...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}

// Start starts a server, or returns nil if Postgres is not installed. Flags are added to those of the server.
func Start(flags ...string) (*Server, error) {
	bin := programs()
	if bin == "" {
		return nil, nil //nolint:nilnil // not installed
	}
	root, err := os.MkdirTemp("", "pgtest")
	if err != nil {
		return nil, err
	}
	s := &Server{Dir: root, root: root, bin: bin, flags: flags}
	if err := s.prepare(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(root))
	}
	return s, s.Run()
}

func (s *Server) prepare() error {
	if err := giveAway(s.root); err != nil {
		return err
	}
	init := exec.Command(filepath.Join(s.bin, "initdb"), "-D", filepath.Join(s.root, "data"), "-U", "postgres", "-A",
		"trust", "-E", "UTF8", "--locale=C", "--no-sync")
	init.Dir, init.SysProcAttr = s.root, unprivileged()
	if out, err := init.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return nil
}

// Run starts the server again after Kill or Halt, and returns when it answers.
func (s *Server) Run() error {
	args := append([]string{"-D", filepath.Join(s.root, "data"), "-k", s.Dir, "-c", "listen_addresses=", "-c",
		"max_connections=600", "-c", "shared_buffers=64MB", "-c", "fsync=off", "-c", "log_min_messages=fatal"}, s.flags...)
	s.cmd = exec.Command(filepath.Join(s.bin, "postgres"), args...)
	s.cmd.Dir, s.cmd.SysProcAttr, s.cmd.Stderr = s.root, serving(), os.Stderr
	var err error
	if s.exited, err = testserver.Start(s.cmd); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		conn, err := pgx.Connect(ctx, s.url("postgres"))
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("postgres does not answer: %w", err)
		case err := <-s.exited:
			return fmt.Errorf("postgres ended: %w", err)
		case <-tick.C:
		}
	}
}

// Halt ends the server at once, as a crash does. Run starts it again.
func (s *Server) Halt() {
	_ = s.cmd.Process.Signal(quit) // it may have ended already
	<-s.exited
}

// Stop ends the server and removes what it stored.
func (s *Server) Stop() {
	s.Halt()
	_ = os.RemoveAll(s.root) // a folder that remains does not affect other tests
}

func (s *Server) url(database string) string {
	return "postgres://postgres@/" + database + "?host=" + s.Dir
}

// Database returns the URL of a new database.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("test%d", s.named.Add(1))
	s.Exec(t, s.url("postgres"), "CREATE DATABASE "+name)
	return s.url(name) + pool
}

// pool keeps the pools of many processes small. Single connections do not know this parameter.
const pool = "&pool_max_conns=4"

// Exec runs a statement.
func (s *Server) Exec(t testing.TB, url, sql string, args ...any) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, strings.TrimSuffix(url, pool))
	if err != nil {
		t.Fatal(err)
	}
	_, err = conn.Exec(ctx, sql, args...)
	if err = errors.Join(err, conn.Close(ctx)); err != nil {
		t.Fatal(err)
	}
}
