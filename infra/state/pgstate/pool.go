package pgstate

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/airlock-run/airlock/functions/execution"
)

const (
	// maxMessage bounds one message of the server: a row with a request and a result.
	maxMessage = 3 * execution.MaxInvocationBytes
	// stopTime is how long a cancelled statement may take to end before its connection is closed.
	stopTime = time.Second
	// connectTime bounds a connection attempt.
	connectTime = 5 * time.Second
	minPool     = 8
)

// parse returns the configuration of a pool. Its errors do not contain the URL, which may have a password.
func parse(text string) (*pgxpool.Config, error) {
	cfg, err := pgxpool.ParseConfig(text)
	if err != nil {
		return nil, errors.New("state: the URL of the database is not valid; it must be like " +
			"postgres://user:password@host:5432/database?sslmode=verify-full")
	}
	if u, err := url.Parse(text); err != nil || !u.Query().Has("pool_max_conns") {
		cfg.MaxConns = max(cfg.MaxConns, minPool)
	}
	bound(cfg.ConnConfig)
	return cfg, nil
}

// bound makes connections safe for a pooler that assigns another session to each transaction, and bounds what they
// read and how long they wait.
func bound(cfg *pgx.ConnConfig) {
	cfg.DefaultQueryExecMode = pgx.QueryExecModeExec
	cfg.StatementCacheCapacity, cfg.DescriptionCacheCapacity = 0, 0
	if cfg.ConnectTimeout == 0 || cfg.ConnectTimeout > connectTime {
		cfg.ConnectTimeout = connectTime
	}
	if cfg.RuntimeParams["application_name"] == "" {
		cfg.RuntimeParams["application_name"] = "airlock"
	}
	cfg.OnNotice = nil
	dial := cfg.DialFunc
	cfg.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &patient{Conn: conn, most: longestWait}, nil
	}
	cfg.BuildFrontend = func(r io.Reader, w io.Writer) *pgproto3.Frontend {
		f := pgproto3.NewFrontend(&handshake{from: r}, w)
		f.SetMaxBodyLen(maxMessage)
		return f
	}
	// A statement that takes too long is cancelled at the server, so that it holds no lock and no session.
	cfg.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: c, DeadlineDelay: stopTime}
	}
}

// connect opens a connection of its own for fn.
func connect(ctx context.Context, url string, fn func(context.Context, *pgx.Conn) error) error {
	cfg, err := parse(url)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*connectTime)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, cfg.ConnConfig)
	if err != nil {
		return judge(ctx, err)
	}
	err = fn(ctx, conn)
	_ = conn.Close(context.WithoutCancel(ctx)) // the statements have ended
	return judge(ctx, err)
}
