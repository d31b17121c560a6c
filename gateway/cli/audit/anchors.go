package audit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/airlock-run/airlock/functions/process/smallfile"
	"github.com/airlock-run/airlock/gateway/cli/exit"
	"github.com/airlock-run/airlock/gateway/cli/terminal"
	"github.com/airlock-run/airlock/gateway/wiring"
	"github.com/airlock-run/airlock/gateway/wiring/settings"
	"github.com/airlock-run/airlock/infra/records/anchors"
	"github.com/airlock-run/airlock/policy/audit"
)

// anchorFlags name the anchors that airlock audit verify compares the records with.
type anchorFlags struct {
	heads           []string
	checkpoint, key string
}

// given returns the anchors that the flags name and the one in the state.
func (f anchorFlags) given(ctx context.Context, a *tool) ([]audit.Anchor, error) {
	var out []audit.Anchor
	for _, text := range f.heads {
		h, err := audit.ParseHead(text)
		if err != nil {
			return nil, exit.With(exit.Usage, fmt.Errorf("--expect-head: %q %w", text, err))
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
		out[i] = wiring.Unpruned(out[i], time.Now())
	}
	return out, nil
}

// anchorInState reads the anchor of a gateway with the same settings.
func (a *tool) anchorInState(ctx context.Context) (audit.Anchor, bool, error) {
	name, _ := a.name()
	url, state, err := settings.Stores(a.con.Getenv, name)
	if err != nil {
		return audit.Anchor{}, false, exit.With(exit.Usage, err)
	}
	key, endpoint := []byte(a.con.Getenv("AUDIT_CHAIN_KEY")), a.con.Getenv("S3_ENDPOINT")
	anchor, err := wiring.OpenAnchor(ctx, state, url, key, endpoint)
	if err != nil || anchor == nil {
		return audit.Anchor{}, false, err
	}
	known, there, err := anchor.Read(ctx)
	switch {
	case errors.Is(err, anchors.ErrUnreadable):
		return known, false, exit.With(exit.Guest, fmt.Errorf("AIRLOCK_STATE: %w", err))
	case err != nil:
		return known, false, exit.With(exit.Platform, fmt.Errorf("AIRLOCK_STATE: %w; set it to none to verify without", err))
	}
	known.Source = "AIRLOCK_STATE (" + anchor.Place() + ")"
	return known, there, nil
}

func readCheckpoint(file, key string) (audit.Anchor, error) {
	switch {
	case file == "":
		return audit.Anchor{}, exit.With(exit.Usage,
			errors.New("--checkpoint-key: needs --checkpoint"))
	case key == "":
		return audit.Anchor{}, exit.With(exit.Usage,
			errors.New("--checkpoint: needs --checkpoint-key, the public key of its signature"))
	}
	text, err := keyText(key)
	if err != nil {
		return audit.Anchor{}, exit.With(exit.Usage, fmt.Errorf("--checkpoint-key: %w", err))
	}
	verifier, err := note.NewVerifier(text)
	if err != nil {
		return audit.Anchor{}, exit.With(exit.Usage,
			errors.New("--checkpoint-key: is not a public key of airlock audit keygen"))
	}
	doc, err := smallfile.Read(file, audit.MaxCheckpointBytes)
	if err != nil {
		return audit.Anchor{}, exit.With(exit.Usage, fmt.Errorf("--checkpoint: %w", err))
	}
	a, err := audit.OpenCheckpoint(doc, verifier)
	if err != nil {
		return audit.Anchor{}, exit.With(exit.Guest, fmt.Errorf("--checkpoint: %s %w", terminal.OneLine(file), err))
	}
	a.Source = "the checkpoint " + terminal.OneLine(file) + ", signed by " + verifier.Name()
	return a, nil
}

// keyText returns a public key, given as text or as the name of a file.
func keyText(key string) (string, error) {
	if strings.Count(key, "+") >= 2 && !strings.ContainsAny(key, " \n") {
		if _, err := os.Stat(key); err != nil {
			return key, nil
		}
	}
	text, err := smallfile.Read(key, 4096)
	return strings.TrimSpace(string(text)), err
}
