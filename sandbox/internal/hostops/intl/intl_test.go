package intl_test

import (
	"testing"

	"github.com/airlock-run/airlock/sandbox/internal/hostops/intl"
	"github.com/airlock-run/airlock/sandbox/internal/hostops/opstest"
)

// Order, zones, tags and names follow the data of Unicode and IANA.
func TestOps(t *testing.T) {
	for _, c := range []struct{ name, expression, want string }{
		{"order of a language", `[op('intl.compare', 'sv', 0, 'z', 'ä'), op('intl.compare', 'de', 0, 'z', 'ä')]`,
			`[-1,1]`},
		{"time zone", `op('intl.zone', 'Europe/Berlin', '1700000000000')`, `[3600,"CET",false,"Europe/Berlin"]`},
		{"unknown time zone", `op('intl.zone', 'Nowhere/Land', '0')`, `null`},
		{"language tag", `op('intl.locale', 'DE-latn-de')`, `"de-Latn-DE"`},
		{"invalid language tag", `op('intl.locale', 'x_')`, `null`},
		{"likely subtags", `op('intl.likely', 'de', 0)`, `"de-Latn-DE"`},
		{"name of a region", `op('intl.name', 'region', 'FR', 'en')`, `"France"`},
		{"graphemes", `list(op('intl.segment', 'grapheme', 'e\u0301x'))`, `[2,0,0,0,3,0,0,0]`},
		{"forged arguments", `op('intl.compare', 1, 2, 3, 4)`, `TypeError: invalid arguments`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := opstest.Eval(t, intl.Ops, c.expression); got != c.want {
				t.Errorf("%s is %s, want %s", c.expression, got, c.want)
			}
		})
	}
}
