package main

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"
)

// walls is what a function process says of its confinement when it is ready.
type walls struct{ standing, missing []string }

// String is one line for people.
func (w walls) String() string {
	line := "behind " + strings.Join(w.standing, ", ")
	if len(w.standing) == 0 {
		line = "without any wall of the kernel's"
	}
	if len(w.missing) > 0 {
		line += "; this kernel lacks " + strings.Join(w.missing, ", ")
	}
	return line
}

// wallWatch is a log handler that hears the first of those messages and keeps all of them out of the log.
type wallWatch struct {
	slog.Handler
	heard chan walls // of size 1
}

func watchWalls(next slog.Handler) *wallWatch { return &wallWatch{next, make(chan walls, 1)} }

// Enabled lets the messages through whatever the log's own level.
func (h *wallWatch) Enabled(ctx context.Context, level slog.Level) bool {
	return level == slog.LevelInfo || h.Handler.Enabled(ctx, level)
}

// Handle implements slog.Handler.
func (h *wallWatch) Handle(ctx context.Context, r slog.Record) error {
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
func (h *wallWatch) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &wallWatch{h.Handler.WithAttrs(attrs), h.heard}
}

// WithGroup implements slog.Handler.
func (h *wallWatch) WithGroup(name string) slog.Handler {
	return &wallWatch{h.Handler.WithGroup(name), h.heard}
}

// first waits a little for what the first process says; its words may still be on their way when it is ready.
func (h *wallWatch) first(patience time.Duration) string {
	select {
	case w := <-h.heard:
		return w.String()
	case <-time.After(patience):
		return "which say nothing of their walls"
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
