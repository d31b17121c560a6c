package pgstate_test

import (
	"errors"
	"testing"

	"github.com/airlock-run/airlock/infra/s3objects"
	"github.com/airlock-run/airlock/infra/state/pgstate"
)

func TestDocuments(t *testing.T) {
	t.Parallel()
	state := newFleet(t)
	docs, err := pgstate.OpenDocuments(state.url)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := docs.Get(t.Context(), "a", 100); !errors.Is(err, s3objects.ErrMissing) {
		t.Errorf("in an empty database: %v", err)
	}
	state.Process(t)
	tag, err := docs.Create(t.Context(), "a", []byte("1"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := docs.Create(t.Context(), "a", []byte("2")); !errors.Is(err, s3objects.ErrChanged) {
		t.Errorf("created twice: %v", err)
	}
	if _, err := docs.Replace(t.Context(), "a", []byte("3"), tag); err != nil {
		t.Error(err)
	}
	if _, err := docs.Replace(t.Context(), "a", []byte("4"), tag); !errors.Is(err, s3objects.ErrChanged) {
		t.Errorf("with an old tag: %v", err)
	}
	if body, _, err := docs.Get(t.Context(), "a", 100); err != nil || string(body) != "3" {
		t.Errorf("%s %v", body, err)
	}
}
