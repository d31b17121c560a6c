package pgstate

import (
	"context"
	"errors"
	"io"
	"net"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/airlock-run/airlock/functions/execution"
)

// errMoved means that another process was faster. The change is tried again.
var errMoved = errors.New("the row was changed meanwhile")

// lostConflict reports whether another transaction won, so that the same work may succeed at once.
func lostConflict(err error) bool {
	var told *pgconn.PgError
	if errors.As(err, &told) {
		return told.Code == "40001" || told.Code == "40P01" || told.Code == "23505"
	}
	return errors.Is(err, errMoved)
}

// lostConnection reports whether the same work may succeed over a new connection.
func lostConnection(err error) bool {
	var (
		told    *pgconn.PgError
		refused *pgconn.ConnectError
		network net.Error
	)
	if errors.As(err, &told) {
		switch told.Code {
		case "57P01", "57P02", "57P03", "08006", "08003", "08P01":
			return true
		}
		return false
	}
	return errors.As(err, &refused) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || pgconn.SafeToRetry(err) || errors.As(err, &network)
}

// judge returns an error of the database as a StoreError.
func judge(ctx context.Context, err error) error {
	if err == nil || errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	if known := (*execution.StoreError)(nil); errors.As(err, &known) {
		return err
	}
	fault := faultOf(ctx, err)
	if fault == "" {
		return err
	}
	return &execution.StoreError{Fault: fault, Err: err}
}

// faultOf returns the fault behind an error of the database, or "".
func faultOf(ctx context.Context, err error) execution.StoreFault {
	var told *pgconn.PgError
	switch {
	case errors.As(err, &told):
		return faultOfCode(told.Code)
	case errors.Is(err, errMoved), ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return execution.StoreBusy
	case lostConnection(err):
		return execution.StoreLost
	}
	return ""
}

// faultOfCode maps the SQLSTATE of an error. A code without a case is a defect of this package.
func faultOfCode(code string) execution.StoreFault {
	switch code {
	case "53100": // disk_full
		return execution.StoreFull
	case "25006": // read_only_sql_transaction
		return execution.StoreReadOnly
	case "XX001", "XX002": // data_corrupted, index_corrupted
		return execution.StoreCorrupt
	case "53300", "53400", "55P03", "57014", "40001", "40P01", "23505": // limits, locks, cancelled, conflicts
		return execution.StoreBusy
	}
	switch code[:min(len(code), 2)] {
	case "08", "28", "3D", "53", "57", "58", "F0", "XX", "42", "25", "3F": // connection, login, resources, system
		return execution.StoreLost
	}
	return ""
}
