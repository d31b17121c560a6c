package hooks_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/hooks"
)

// A delivery that is signed with a hook's secret is accepted, for every scheme and sample, and not with another
// secret.
func TestSamplesVerify(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	own := map[string]bool{"standard": true, "github": true, "stripe": true, "slack": true, "shopify": true}
	for _, scheme := range hooks.Schemes() {
		h := execution.FunctionHook{Scheme: scheme, Secret: "a secret nobody guesses"}
		if scheme == hooks.None {
			h.Secret = ""
		}
		samples, err := hooks.Samples(scheme)
		if err != nil || len(samples) < 2 {
			t.Fatalf("%s: %v %v", scheme, samples, err)
		}
		if own[scheme] && samples[0].Scheme != scheme {
			t.Fatalf("%s: the first sample is of %s", scheme, samples[0].Scheme)
		}
		for _, s := range samples {
			header, err := hooks.Sign(h, "msg_1", []byte(s.Body), now)
			if err != nil {
				t.Fatal(err)
			}
			for name, value := range s.Headers {
				header.Set(name, value)
			}
			if _, err := hooks.Verify(h, header, []byte(s.Body), now); err != nil {
				t.Errorf("%s %s: %v", scheme, s.Name, err)
			}
			other := h
			other.Secret += "x"
			if _, err := hooks.Verify(other, header, []byte(s.Body), now); scheme != hooks.None && err == nil {
				t.Errorf("%s %s: taken with another secret", scheme, s.Name)
			}
		}
	}
	if _, err := hooks.Sign(execution.FunctionHook{Scheme: "other"}, "", nil, now); err == nil {
		t.Error("an unknown scheme signs")
	}
}

// Sign makes the headers of a published delivery.
func TestSignAsPublished(t *testing.T) {
	t.Parallel()
	for _, d := range published() {
		if d.name != "standard" && d.name != "github" && d.name != "slack" && d.name != "shopify" {
			continue
		}
		got, err := hooks.Sign(d.hook, d.header.Get("webhook-id"), []byte(d.body), time.Unix(d.at, 0))
		if err != nil {
			t.Fatal(err)
		}
		for name := range d.header {
			if name = http.CanonicalHeaderKey(name); got.Get(name) != d.header.Get(name) {
				t.Errorf("%s: %s is %q, published is %q", d.name, name, got.Get(name), d.header.Get(name))
			}
		}
	}
}
