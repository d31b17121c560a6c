package egress

import (
	"bytes"
	"io"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"
)

// Wherever reads end, no part of a secret shows.
func TestHiderAcrossReads(t *testing.T) {
	swaps := []swap{{"PLACE", "secret"}, {"OTHER", "sec"}}
	const body = "a secret, secsecret and secre"
	for name, from := range map[string]io.Reader{
		"at once": strings.NewReader(body), "byte by byte": iotest.OneByteReader(strings.NewReader(body)),
		"by halves":           iotest.HalfReader(strings.NewReader(body)),
		"with an early error": iotest.DataErrReader(strings.NewReader(body)),
	} {
		t.Run(name, func(t *testing.T) {
			got, err := io.ReadAll(newHider(io.NopCloser(from), swaps))
			if err != nil || bytes.Contains(got, []byte("sec")) || !bytes.HasPrefix(got, []byte("a PLACE, ")) {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

// If one secret is a prefix of another, no part of the longer one shows.
func TestEchoesOfNestedSecrets(t *testing.T) {
	both := echoes([]swap{{"OTHER", "sec"}, {"PLACE", "secret"}})
	if got := hide("a secret", both); got != "a PLACE" {
		t.Errorf("got %q", got)
	}
}

func TestSecretsAreEscaped(t *testing.T) {
	swaps := []swap{{"PLACE", `a"b/c?d&e`}}
	u, err := url.Parse("https://host/p/PLACE?q=PLACE")
	if err != nil {
		t.Fatal(err)
	}
	if got := inURL(u, swaps); strings.Contains(got.RawQuery, "&") || strings.Contains(got.RequestURI(), `"`) {
		t.Errorf("in a URL: %s", got)
	}
	if got := inHeader("Basic VTpQTEFDRQ==", swaps); got != "Basic VTphImIvYz9kJmU=" { // U:PLACE
		t.Errorf("in credentials: %s", got)
	}
	for _, e := range echoes(swaps) {
		if hide("x"+e.value+"y", echoes(swaps)) != "xPLACEy" {
			t.Errorf("%q is not hidden", e.value)
		}
	}
}

func TestPlaceholder(t *testing.T) {
	first, again := Placeholder(1, "A"), Placeholder(1, "A")
	if first != again || first == Placeholder(2, "A") || first == Placeholder(1, "B") {
		t.Error("a placeholder must depend on the seed and the name alone")
	}
}
