package mcp

import (
	"context"
	"log/slog"
	"strings"
)

// longestText bounds a text of a caller in the log.
const longestText = 200

// sdkLog passes what the SDK logs on at debug level, with its texts cut. It writes three lines for each request without
// a session, and what callers send, such as a level of a mebibyte.
type sdkLog struct{ to slog.Handler }

// Enabled implements slog.Handler.
func (l sdkLog) Enabled(ctx context.Context, _ slog.Level) bool {
	return l.to.Enabled(ctx, slog.LevelDebug)
}

// Handle implements slog.Handler.
func (l sdkLog) Handle(ctx context.Context, r slog.Record) error {
	debug := slog.NewRecord(r.Time, slog.LevelDebug, cut(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		debug.AddAttrs(slog.String(a.Key, cut(a.Value.String())))
		return true
	})
	return l.to.Handle(ctx, debug)
}

// WithAttrs implements slog.Handler.
func (l sdkLog) WithAttrs(attrs []slog.Attr) slog.Handler { return sdkLog{l.to.WithAttrs(attrs)} }

// WithGroup implements slog.Handler.
func (l sdkLog) WithGroup(name string) slog.Handler { return sdkLog{l.to.WithGroup(name)} }

func cut(text string) string {
	if len(text) <= longestText {
		return text
	}
	return strings.ToValidUTF8(text[:longestText], "") + "…"
}
