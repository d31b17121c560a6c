package pgstate

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/airlock-run/airlock/infra/s3objects"
)

// Documents are small documents beside the state, replaced by compare-and-swap as in a bucket. Each operation has a
// connection of its own, so a program that only reads one needs no Store.
type Documents struct{ url string }

// OpenDocuments returns the documents in the database at a URL. It connects to nothing.
func OpenDocuments(url string) (*Documents, error) {
	if _, err := parse(url); err != nil {
		return nil, err
	}
	return &Documents{url}, nil
}

// Get returns a document and its tag. The error is s3objects.ErrMissing if there is none.
func (d *Documents) Get(ctx context.Context, name string, most int64) (body []byte, tag string, err error) {
	err = connect(ctx, d.url, func(ctx context.Context, conn *pgx.Conn) error {
		var there bool
		if err := conn.QueryRow(ctx, "SELECT to_regclass('airlock.documents') IS NOT NULL").Scan(&there); err != nil {
			return err
		}
		if !there {
			return s3objects.ErrMissing // no gateway has used the database yet
		}
		const query = "SELECT body, tag FROM airlock.documents WHERE name = $1 AND octet_length(body) <= $2"
		err := conn.QueryRow(ctx, query, name, most).Scan(&body, &tag)
		if errors.Is(err, pgx.ErrNoRows) {
			return s3objects.ErrMissing
		}
		return err
	})
	return body, tag, d.named(name, err)
}

// Create stores a new document. The error is s3objects.ErrChanged if it exists.
func (d *Documents) Create(ctx context.Context, name string, body []byte) (tag string, err error) {
	return d.write(ctx, "INSERT INTO airlock.documents (name, body, tag) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING", name,
		body)
}

// Replace replaces a document that has a tag. The error is s3objects.ErrChanged if it has another by now.
func (d *Documents) Replace(ctx context.Context, name string, body []byte, tag string) (string, error) {
	return d.write(ctx, "UPDATE airlock.documents SET body = $2, tag = $3 WHERE name = $1 AND tag = $4", name, body, tag)
}

func (d *Documents) write(ctx context.Context, sql, name string, body []byte, last ...any) (string, error) {
	tag := rand.Text()
	err := connect(ctx, d.url, func(ctx context.Context, conn *pgx.Conn) error {
		done, err := conn.Exec(ctx, sql, append([]any{name, body, tag}, last...)...)
		if err == nil && done.RowsAffected() == 0 {
			return s3objects.ErrChanged
		}
		return err
	})
	return tag, d.named(name, err)
}

func (*Documents) named(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("document %s: %w", name, err)
}
