package settings

import (
	"io"
	"log/slog"
	"strings"
)

// Log says how the gateway logs.
type Log struct {
	Level slog.Level
	JSON  bool
	// Access says that every request has a line.
	Access bool
}

// log reads the settings of the log. A log for programs has a line for every request, unless ACCESS_LOG says no.
func (r *reader) log() (l Log) {
	switch format := strings.TrimSpace(r.getenv("LOG_FORMAT")); format {
	case "", "text":
	case "json":
		l.JSON = true
	default:
		r.fail("LOG_FORMAT", "must be text or json; got %q", format)
	}
	switch level := strings.TrimSpace(r.getenv("LOG_LEVEL")); level {
	case "", "info":
	case "debug":
		l.Level = slog.LevelDebug
	case "warn":
		l.Level = slog.LevelWarn
	case "error":
		l.Level = slog.LevelError
	default:
		r.fail("LOG_LEVEL", "must be debug, info, warn or error; got %q", level)
	}
	switch access := strings.TrimSpace(r.getenv("ACCESS_LOG")); access {
	case "":
		l.Access = l.JSON
	case "true":
		l.Access = true
	case "false":
	default:
		r.fail("ACCESS_LOG", "must be true or false; got %q", access)
	}
	return l
}

// Handler returns the handler that writes the log to w.
func (l Log) Handler(w io.Writer) slog.Handler {
	options := &slog.HandlerOptions{Level: l.Level}
	if l.JSON {
		return slog.NewJSONHandler(w, options)
	}
	return slog.NewTextHandler(w, options)
}
