package nodemodule

import "testing"

// Only code that names a module where it loads it requires the module.
func TestRequires(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]bool{
		"const a = require('net')":             true,
		`import net from "net"`:                true,
		`import{a}from"node:net"`:              true,
		"import 'net'":                         true,
		"await import( `net` )":                true,
		"await import(`net`)":                  true,
		`var x=_("net"),y=$('q')`:              true,
		"require('internet'); require('net2')": false,
		"require('a'); require('node:net')":    true,
		"for (const m of ['net']) require(m)":  false,
		"createRequire('/')('net')":            false,
		"o[p]('net')":                          false,
		"('net')":                              false,
		"net":                                  false,
		"":                                     false,
	} {
		if got := Requires(code, "net"); got != want {
			t.Errorf("Requires(%q, net) = %t, want %t", code, got, want)
		}
	}
}
