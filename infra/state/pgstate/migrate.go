package pgstate

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrationLock is the advisory lock of those who change the schema.
const migrationLock = 0x61_69_72_6c_6f_63_6b

// migrate updates the schema. A lock that belongs to a transaction excludes other gateways: unlike a lock of a
// session, it ends with the process that held it, behind a pooler, too.
func migrate(ctx context.Context, pool *pgxpool.Pool) error {
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) (err error) {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(migrationLock)); err != nil {
			return err
		}
		var there bool
		if err := pool.QueryRow(ctx, "SELECT to_regnamespace('airlock') IS NOT NULL").Scan(&there); err != nil {
			return err
		}
		if !there {
			if _, err := pool.Exec(ctx, "CREATE SCHEMA airlock"); err != nil {
				return err
			}
		}
		folder, err := fs.Sub(migrations, "migrations")
		if err != nil {
			return err
		}
		store, err := database.NewStore(database.DialectPostgres, "airlock.migrations")
		if err != nil {
			return err
		}
		db := stdlib.OpenDBFromPool(pool)
		defer func() { err = errors.Join(err, db.Close()) }()
		steps, err := goose.NewProvider("", db, folder, goose.WithStore(store), goose.WithDisableGlobalRegistry(true))
		if err != nil {
			return err
		}
		has, knows, err := steps.GetVersions(ctx)
		if err != nil {
			return err
		}
		if has > knows {
			return fmt.Errorf("the schema was written by a newer version of airlock (step %d, this one knows %d)", has, knows)
		}
		if has == knows {
			return nil
		}
		_, err = steps.Up(ctx)
		return err
	})
}
