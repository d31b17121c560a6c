package wiring

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"
)

// walls are the confinement that a function process reports when it is ready.
type walls struct{ standing, missing []string }

// String returns one line of text.
func (w walls) String() string {
	line := "behind " + strings.Join(w.standing, ", ")
	if len(w.standing) == 0 {
		line = "without any kernel wall"
	}
	if len(w.missing) > 0 {
		line += "; this kernel lacks " + strings.Join(w.missing, ", ")
	}
	return line
}

// A WallWatch is a log handler that records the walls of the first process that is ready. It keeps those messages out
// of the log.
type WallWatch struct {
	slog.Handler
	heard chan walls // of size 1
}

// WatchWalls returns a handler that passes everything else on to next.
func WatchWalls(next slog.Handler) *WallWatch { return &WallWatch{next, make(chan walls, 1)} }

// Enabled implements slog.Handler. It lets the messages through whatever the level of the log is.
func (h *WallWatch) Enabled(ctx context.Context, level slog.Level) bool {
	return level == slog.LevelInfo || h.Handler.Enabled(ctx, level)
}

// Handle implements slog.Handler.
func (h *WallWatch) Handle(ctx context.Context, r slog.Record) error {
	if r.Message != "function process ready" {
		if !h.Handler.Enabled(ctx, r.Level) {
			return nil
		}
		return h.Handler.Handle(ctx, r)
	}
	var w walls
	r.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "walls":
			w.standing = words(a.Value.Any())
		case "missing":
			w.missing = words(a.Value.Any())
		}
		return true
	})
	select {
	case h.heard <- w:
	default:
	}
	return nil
}

// WithAttrs implements slog.Handler.
func (h *WallWatch) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &WallWatch{h.Handler.WithAttrs(attrs), h.heard}
}

// WithGroup implements slog.Handler.
func (h *WallWatch) WithGroup(name string) slog.Handler {
	return &WallWatch{h.Handler.WithGroup(name), h.heard}
}

// First describes the walls of the first process that is ready. It waits for its message, which may still be on its
// way.
func (h *WallWatch) First(patience time.Duration) string {
	select {
	case w := <-h.heard:
		return w.String()
	case <-time.After(patience):
		return "which report no walls"
	}
}

func words(v any) []string {
	items, _ := v.([]any)
	out := make([]string, 0, len(items))
	for _, item := range items {
		out = append(out, fmt.Sprint(item))
	}
	return out
}
