package settings

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"
)

func TestLog(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		env    []string
		access bool
		has    []string
		hasNot []string
	}{
		"default":     {nil, false, []string{"level=INFO msg=i a=1", "level=WARN"}, []string{"level=DEBUG"}},
		"debug":       {[]string{"LOG_LEVEL=debug"}, false, []string{"level=DEBUG msg=d"}, nil},
		"errors only": {[]string{"LOG_LEVEL=error"}, false, []string{"level=ERROR"}, []string{"level=WARN", "level=INFO"}},
		"json":        {[]string{"LOG_FORMAT=json"}, true, []string{`"level":"INFO","msg":"i","a":1}`}, []string{"level="}},
		"quiet json":  {[]string{"LOG_FORMAT=json", "ACCESS_LOG=false"}, false, []string{`"level":"WARN"`}, nil},
		"access":      {[]string{"ACCESS_LOG=true"}, true, []string{"level=INFO"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set, err := Read(env(c.env...), time.Now)
			l := set.Log
			if err != nil || l.Access != c.access {
				t.Fatalf("%+v, %v", l, err)
			}
			var out bytes.Buffer
			log := slog.New(l.Handler(&out))
			log.Debug("d")
			log.Info("i", "a", 1)
			log.Warn("w")
			log.Error("e")
			for _, want := range c.has {
				if !strings.Contains(out.String(), want) {
					t.Errorf("%q is missing in\n%s", want, out.String())
				}
			}
			for _, none := range c.hasNot {
				if strings.Contains(out.String(), none) {
					t.Errorf("%q is in\n%s", none, out.String())
				}
			}
		})
	}
}
