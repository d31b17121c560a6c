package sqlitestate

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
)

// Function gives a saved function. The error is execution.ErrNotFound when there is none.
func (s *Store) Function(ctx context.Context, tenant, name string) (execution.SavedFunction, error) {
	return scanFunction(s.db.QueryRowContext(ctx, "SELECT doc FROM functions WHERE tenant = ? AND name = ?", tenant, name))
}

// Functions gives at most limit functions of a tenant whose names come after a name, in the order of names.
func (s *Store) Functions(ctx context.Context, tenant, after string, limit int) ([]execution.SavedFunction, error) {
	return s.functions(ctx, "SELECT doc FROM functions WHERE tenant = ? AND name > ? ORDER BY name LIMIT ?", tenant, after, limit)
}

// Due gives at most limit functions of any tenant whose next time has come.
func (s *Store) Due(ctx context.Context, now time.Time, limit int) ([]execution.SavedFunction, error) {
	return s.functions(ctx, "SELECT doc FROM functions WHERE next IS NOT NULL AND next <= ? ORDER BY next LIMIT ?", millis(now), limit)
}

// Content gives what a version runs.
func (s *Store) Content(ctx context.Context, tenant, name string, version int) (execution.FunctionContent, error) {
	var raw []byte
	var c execution.FunctionContent
	err := s.db.QueryRowContext(ctx, "SELECT content FROM versions WHERE tenant = ? AND name = ? AND version = ?", tenant, name, version).Scan(&raw)
	if errors.Is(err, sql.ErrNoRows) {
		return c, execution.ErrNotFound
	}
	if err == nil {
		err = json.Unmarshal(raw, &c)
	}
	if err != nil {
		return c, fmt.Errorf("read version %d of function %q: %w", version, name, err)
	}
	return c, nil
}

// Change hands a function, empty but for its tenant and name when there is none, to fn and keeps what fn makes of it, in
// one transaction. Content, when fn gives one, is that of the last version. An error of fn changes nothing and is given
// back as it is.
func (s *Store) Change(ctx context.Context, tenant, name string, fn func(*execution.SavedFunction) (*execution.FunctionContent, error)) error {
	var own error
	err := s.change(ctx, func(tx *sql.Tx) error {
		f, err := scanFunction(tx.QueryRowContext(ctx, "SELECT doc FROM functions WHERE tenant = ? AND name = ?", tenant, name))
		if errors.Is(err, execution.ErrNotFound) {
			f, err = execution.SavedFunction{Tenant: tenant, Name: name}, nil
		}
		if err != nil {
			return err
		}
		content, err := fn(&f)
		if err != nil {
			own = err
			return err
		}
		if content != nil {
			raw, err := json.Marshal(content)
			if err != nil {
				return err
			}
			last := f.Versions[len(f.Versions)-1].Version
			if _, err := tx.ExecContext(ctx, "INSERT INTO versions (tenant, name, version, content) VALUES (?, ?, ?, ?)", tenant, name, last, raw); err != nil {
				return err
			}
		}
		doc, err := json.Marshal(f)
		if err != nil {
			return err
		}
		var next sql.NullInt64
		if f.Schedule != nil {
			next = orNull(f.Schedule.Next)
		}
		_, err = tx.ExecContext(ctx, "INSERT OR REPLACE INTO functions (tenant, name, next, doc) VALUES (?, ?, ?, ?)", tenant, name, next, doc)
		return err
	})
	if own != nil {
		return own
	}
	if err != nil {
		return fmt.Errorf("save function %q: %w", name, err)
	}
	return nil
}

// Delete takes a function away with all its versions.
func (s *Store) Delete(ctx context.Context, tenant, name string) error {
	err := s.change(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "DELETE FROM versions WHERE tenant = ? AND name = ?", tenant, name); err != nil {
			return err
		}
		res, err := tx.ExecContext(ctx, "DELETE FROM functions WHERE tenant = ? AND name = ?", tenant, name)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return errors.Join(execution.ErrNotFound, err)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("delete function %q: %w", name, err)
	}
	return nil
}

func (s *Store) functions(ctx context.Context, query string, args ...any) (_ []execution.SavedFunction, err error) {
	rows, err := s.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("list functions: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var out []execution.SavedFunction
	for rows.Next() {
		f, err := scanFunction(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, rows.Err()
}

func scanFunction(row interface{ Scan(...any) error }) (execution.SavedFunction, error) {
	var raw []byte
	var f execution.SavedFunction
	err := row.Scan(&raw)
	if errors.Is(err, sql.ErrNoRows) {
		return f, execution.ErrNotFound
	}
	if err == nil {
		err = json.Unmarshal(raw, &f)
	}
	if err != nil {
		return f, fmt.Errorf("read a function: %w", err)
	}
	return f, nil
}
