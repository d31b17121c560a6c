package mcp_test

import (
	"log/slog"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// lines is a log that many write.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// What a caller makes the SDK log is short, and is in the log only if its level is debug.
func TestSDKLog(t *testing.T) {
	t.Parallel()
	log := &lines{}
	s := serverLogging(t, gateway{}, gateway{}, slog.New(slog.NewTextHandler(log,
		&slog.HandlerOptions{Level: slog.LevelDebug})))
	level := sdk.LoggingLevel(strings.Repeat("x", 1<<20)) //lint:ignore SA1019 clients still send it
	//lint:ignore SA1019 clients still send it
	params := &sdk.SetLoggingLevelParams{Level: level}
	//lint:ignore SA1019 clients still send it
	_ = localOf(t, s).SetLoggingLevel(t.Context(), params) // it may be refused
	text := log.String()
	if !strings.Contains(text, "level=DEBUG") || strings.Contains(text, "level=INFO") {
		t.Errorf("the log is %.1000s", text)
	}
	if len(text) > 10_000 {
		t.Errorf("%d bytes are logged", len(text))
	}
}
