package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/airlock-run/airlock/infra/records"
	"github.com/airlock-run/airlock/infra/records/anchors"
	"github.com/airlock-run/airlock/infra/s3objects"
	"github.com/airlock-run/airlock/policy/audit"
)

// anchorEvery is how often a gateway anchors its records in its state: what was written since is not anchored yet.
const anchorEvery = time.Minute

// pruningSlack is how far back from now retention has certainly taken nothing: it leaves today and yesterday alone, and
// clocks of machines differ.
const pruningSlack = 12 * time.Hour

// stateAnchor opens the anchor of the records in the state; nil where there is no state.
func stateAnchor(ctx context.Context, state, store string, key []byte, s3Endpoint string) (*anchors.Store, error) {
	if state == "" {
		return nil, nil
	}
	return anchors.Open(ctx, state, store, anchors.Config{Key: key, Access: s3objects.Access{Endpoint: s3Endpoint}})
}

// keepAnchored raises the anchor at once, at each tick and when the function it gives is called, which ends it. An anchor
// that cannot be raised now lags behind.
func keepAnchored(ctx context.Context, store records.Store, anchor *anchors.Store, tick <-chan time.Time, log *slog.Logger) (stop func()) {
	if anchor == nil {
		return func() {}
	}
	failed := false
	raise := func(ctx context.Context) {
		heads, err := store.Heads(ctx)
		if err == nil {
			err = anchor.Raise(ctx, heads)
		}
		if err != nil && ctx.Err() == nil && !failed {
			log.Warn("the records are not anchored in the state; it is tried again", "error", err)
		}
		failed = err != nil
	}
	ended := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		for {
			raise(ctx)
			select {
			case <-tick:
			case <-ctx.Done():
				return
			case <-ended:
				return
			}
		}
	})
	return func() {
		close(ended)
		running.Wait()
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		raise(last)
	}
}

// verifyAnchored verifies the records against the anchor in the state, where there is one.
func verifyAnchored(store records.Store, anchor *anchors.Store) func(context.Context) (audit.Report, error) {
	return func(ctx context.Context) (audit.Report, error) {
		if anchor == nil {
			return store.Verify(ctx)
		}
		known, there, err := anchor.Read(ctx)
		if err != nil {
			return audit.Report{}, err
		}
		if !there {
			return store.Verify(ctx)
		}
		return store.VerifyAgainst(ctx, []audit.Anchor{unpruned(known, time.Now())})
	}
}

// unpruned says since when retention has taken nothing of what an anchor names.
func unpruned(a audit.Anchor, now time.Time) audit.Anchor {
	a.Since = now.Add(-pruningSlack).UTC().Format(time.DateOnly)
	return a
}

// anchorFlags say what airlock audit verify holds the records against.
type anchorFlags struct {
	heads           []string
	checkpoint, key string
}

// given returns the anchors that the flags name and the one in the state.
func (f anchorFlags) given(ctx context.Context, a *auditTool) ([]audit.Anchor, error) {
	var out []audit.Anchor
	for _, text := range f.heads {
		h, err := audit.ParseHead(text)
		if err != nil {
			return nil, exit(exitUsage, fmt.Errorf("--expect-head: %q %w", text, err))
		}
		out = append(out, audit.Anchor{Source: "--expect-head", Heads: []audit.Head{h}})
	}
	if f.checkpoint != "" || f.key != "" {
		c, err := readCheckpoint(f.checkpoint, f.key)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	known, there, err := a.anchorInState(ctx)
	if err != nil {
		return nil, err
	}
	if there {
		out = append(out, known)
	}
	for i := range out {
		out[i] = unpruned(out[i], time.Now())
	}
	return out, nil
}

// anchorInState reads the anchor that a gateway with the same settings keeps.
func (a *auditTool) anchorInState(ctx context.Context) (audit.Anchor, bool, error) {
	r := &reader{getenv: a.getenv}
	name, _ := a.name()
	url := (&reader{getenv: func(string) string { return name }}).store()
	state := r.state(url)
	if len(r.wrong) > 0 {
		return audit.Anchor{}, false, exit(exitUsage, errors.Join(r.wrong...))
	}
	anchor, err := stateAnchor(ctx, state, url, []byte(a.getenv("AUDIT_CHAIN_KEY")), a.getenv("S3_ENDPOINT"))
	if err != nil || anchor == nil {
		return audit.Anchor{}, false, err
	}
	known, there, err := anchor.Read(ctx)
	switch {
	case errors.Is(err, anchors.ErrUnreadable):
		return known, false, exit(exitGuest, fmt.Errorf("AIRLOCK_STATE: %w", err))
	case err != nil:
		return known, false, exit(exitPlatform, fmt.Errorf("AIRLOCK_STATE: %w; set it to none to verify without", err))
	}
	known.Source = "AIRLOCK_STATE (" + anchor.Place() + ")"
	return known, there, nil
}

func readCheckpoint(file, key string) (audit.Anchor, error) {
	switch {
	case file == "":
		return audit.Anchor{}, exit(exitUsage, errors.New("--checkpoint-key: give the checkpoint too, with --checkpoint"))
	case key == "":
		return audit.Anchor{}, exit(exitUsage, errors.New("--checkpoint: give the key that it must be signed with, with --checkpoint-key"))
	}
	text, err := keyText(key)
	if err != nil {
		return audit.Anchor{}, exit(exitUsage, fmt.Errorf("--checkpoint-key: %w", err))
	}
	verifier, err := note.NewVerifier(text)
	if err != nil {
		return audit.Anchor{}, exit(exitUsage, errors.New("--checkpoint-key: is no public key, such as airlock audit keygen prints"))
	}
	doc, err := readAtMost(file, audit.MaxCheckpointBytes)
	if err != nil {
		return audit.Anchor{}, exit(exitUsage, fmt.Errorf("--checkpoint: %w", err))
	}
	a, err := audit.OpenCheckpoint(doc, verifier)
	if err != nil {
		return audit.Anchor{}, exit(exitGuest, fmt.Errorf("--checkpoint: %s %w", oneLine(file), err))
	}
	a.Source = "the checkpoint " + oneLine(file) + ", signed by " + verifier.Name()
	return a, nil
}

// keyText takes a public key, or the name of the file that holds it.
func keyText(key string) (string, error) {
	if strings.Count(key, "+") >= 2 && !strings.ContainsAny(key, " \n") {
		if _, err := os.Stat(key); err != nil {
			return key, nil
		}
	}
	text, err := readAtMost(key, 4096)
	return strings.TrimSpace(string(text)), err
}

// readAtMost reads a file that may not be larger.
func readAtMost(name string, most int64) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() || info.Size() > most {
		return nil, fmt.Errorf("%s is a folder, or has more than %d bytes", oneLine(name), most)
	}
	return os.ReadFile(name)
}
