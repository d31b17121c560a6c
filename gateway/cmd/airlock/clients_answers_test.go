package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"testing"
)

// TestClientsReadWhatIsMissing: an answer that lacks what a library expects is read without a panic, which would end
// the process on a goroutine of the library.
func TestClientsReadWhatIsMissing(t *testing.T) {
	bodies := map[string][]string{
		"application/json": {
			"null", "{}", "[]", `{"roleCredentials":null}`, `{"Item":{"v":null}}`, `{"__type":null}`, `{"keys":[null]}`,
			`{"versions":{"1.0.0":null}}`, `{"keys":[{"kty":"EC","crv":"P-256","x":"` +
				"_____________________________________________w" + `","y":"AA"}]}`,
		},
		"application/xml": {
			"", "<R/>", "<Error/>", "<R><Contents/><CommonPrefixes/></R>",
			"<R><AssumeRoleWithWebIdentityResult/></R>",
		},
		"application/vnd.amazon.eventstream": {"\x00\x00\x00\x10\x00\x00\x00\x00\x05\xc2\x48\xeb\x7d\x98\xc8\xff"},
		"text/event-stream":                  {"data: null\n\n", "data: {\"jsonrpc\":\"2.0\",\"method\":null}\n\n"},
	}
	for _, folder := range slices.Sorted(maps.Keys(clients)) {
		for _, c := range clients[folder] {
			if folder == "sandbox/internal/egress" {
				continue // a guest reads their answers
			}
			t.Run(c.name, func(t *testing.T) {
				for kind, texts := range bodies {
					for _, text := range texts {
						for _, status := range []int{200, 400} {
							url, _ := serveHostile(t, func(w io.Writer) error {
								_, err := fmt.Fprintf(w, "HTTP/1.1 %d X\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s",
									status, kind, len(text), text)
								return err
							})
							ctx, cancel := context.WithTimeout(t.Context(), patienceWith("drip"))
							_ = c.call(ctx, t, url) // some take it
							cancel()
						}
					}
				}
			})
		}
	}
}
