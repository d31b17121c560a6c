package hooks

import (
	_ "embed" // the samples
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
)

// A Sample is a delivery as its sender makes it, without the signature.
type Sample struct {
	Scheme  string            `json:"scheme"` // "any" suits every scheme
	Name    string            `json:"name"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
}

//go:embed samples.json
var samples []byte

// Samples returns the samples for a scheme, its own first. They follow the senders' documentation.
func Samples(scheme string) ([]Sample, error) {
	var all, fit, others []Sample
	if err := json.Unmarshal(samples, &all); err != nil {
		return nil, fmt.Errorf("read the samples of webhooks: %w", err)
	}
	for _, s := range all {
		switch s.Scheme {
		case scheme:
			fit = append(fit, s)
		case "any":
			others = append(others, s)
		}
	}
	return append(fit, others...), nil
}

// Sign returns the headers that a sender who knows the hook's secret adds to a body. id names the message if the
// scheme has IDs.
func Sign(h execution.FunctionHook, id string, body []byte, now time.Time) (http.Header, error) {
	header, at, secret := http.Header{}, strconv.FormatInt(now.Unix(), 10), []byte(h.Secret)
	if _, err := keyOf(h); err != nil && h.Scheme != None {
		return nil, refused("the secret of this hook cannot sign")
	}
	switch h.Scheme {
	case None:
	case Standard:
		key, err := standardKey(h)
		if err != nil {
			return nil, refused("the secret of this hook cannot sign")
		}
		signature, err := key.Sign(id, now, body)
		if err != nil {
			return nil, refused("the secret of this hook cannot sign")
		}
		header.Set("Webhook-Id", id)
		header.Set("Webhook-Timestamp", at)
		header.Set("Webhook-Signature", signature)
	case GitHub:
		header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac(secret, body)))
	case Shopify:
		header.Set("X-Shopify-Hmac-Sha256", base64.StdEncoding.EncodeToString(mac(secret, body)))
	case HMAC:
		header.Set(Headers(h)[0], hex.EncodeToString(mac(secret, body)))
	case Stripe:
		header.Set("Stripe-Signature", "t="+at+",v1="+hex.EncodeToString(mac(secret, []byte(at+"."), body)))
	case Slack:
		header.Set("X-Slack-Request-Timestamp", at)
		header.Set("X-Slack-Signature", "v0="+hex.EncodeToString(mac(secret, []byte("v0:"+at+":"), body)))
	case SharedHeader:
		header.Set(Headers(h)[0], h.Secret)
	default:
		return nil, refused("the scheme of this hook is not known")
	}
	return header, nil
}
