package hooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
)

// The schemes. Codes are append-only.
const (
	None         = "none"
	Standard     = "standard"      // standardwebhooks.com
	GitHub       = "github"        // X-Hub-Signature-256
	Stripe       = "stripe"        // Stripe-Signature, v1
	Slack        = "slack"         // X-Slack-Signature, v0
	Shopify      = "shopify"       // X-Shopify-Hmac-Sha256
	HMAC         = "hmac-sha256"   // of the body, in hexadecimal or base64
	SharedHeader = "shared-header" // the secret itself
)

// tolerance is how far a timestamp may be off if the hook does not say: the value of Stripe, Slack and the Standard
// Webhooks libraries.
const tolerance = 5 * time.Minute

// remembered is how long a signature without a timestamp is refused a second time.
const remembered = 24 * time.Hour

// Refusal is the error of a delivery that could not be verified. Its text reveals nothing that the sender does not
// know.
type Refusal struct{ Reason string }

// Error returns the reason.
func (r *Refusal) Error() string { return r.Reason }

// A Proof identifies a verified delivery. The zero Proof is that of a scheme that signs nothing.
type Proof struct {
	// Key is the same for the same message.
	Key string
	// Mark is the same for the same sending of a message. A message that its sender sends again has another mark. It is
	// empty if the scheme signs no time, so that a sending cannot be told from its copy.
	Mark string
	// Until is when a delivery with this Key would be refused because of its age.
	Until time.Time
}

// Verify verifies a delivery. The error is a *Refusal.
func Verify(h execution.FunctionHook, header http.Header, body []byte, now time.Time) (Proof, error) {
	if h.Scheme == None {
		return Proof{}, nil
	}
	if _, err := keyOf(h); err != nil {
		return Proof{}, refused("this hook has no secret that can verify anything; it must be saved with a new one")
	}
	switch h.Scheme {
	case Standard:
		return verifyStandard(h, header, body, now)
	case GitHub:
		return bodySigned(h, header, []string{"X-Hub-Signature-256"}, "sha256=", body, now, lowerHex)
	case Shopify:
		return bodySigned(h, header, []string{"X-Shopify-Hmac-Sha256"}, "", body, now, strictBase64)
	case HMAC:
		return bodySigned(h, header, Headers(h), "", body, now, hexOrBase64)
	case Stripe:
		return verifyStripe(h, header, body, now)
	case Slack:
		return verifySlack(h, header, body, now)
	case SharedHeader:
		return Proof{}, verifyShared(h, header)
	}
	return Proof{}, refused("the scheme of this hook is not known")
}

func refused(reason string) error { return &Refusal{reason} }

// one returns a header that must occur once.
func one(header http.Header, name string) (string, error) {
	values := header.Values(name)
	switch {
	case len(values) == 0 || values[0] == "":
		return "", refused("the header " + name + " is missing")
	case len(values) > 1:
		return "", refused("the header " + name + " is given more than once")
	}
	return values[0], nil
}

// timely checks seconds since 1970, and returns the time from which on they are too old.
func timely(h execution.FunctionHook, text string, now time.Time) (until time.Time, err error) {
	seconds, ok := decimal(text)
	if !ok {
		return time.Time{}, refused("the timestamp is not a number of seconds")
	}
	off := tolerance
	if h.ToleranceSeconds > 0 {
		off = time.Duration(h.ToleranceSeconds) * time.Second
	}
	at := time.Unix(seconds, 0)
	switch {
	case now.Sub(at) > off:
		return time.Time{}, refused("the timestamp is too old")
	case at.Sub(now) > off:
		return time.Time{}, refused("the timestamp is in the future")
	}
	return at.Add(off + time.Second), nil
}

func mac(secret []byte, parts ...[]byte) []byte {
	m := hmac.New(sha256.New, secret)
	for _, p := range parts {
		m.Write(p)
	}
	return m.Sum(nil)
}

// same reports whether two values are equal, in a time that reveals neither where they differ nor how long they are.
func same(a, b []byte) bool {
	x, y := sha256.Sum256(a), sha256.Sum256(b)
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

func digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(strconv.Itoa(len(p)) + ":" + p))
	}
	return hex.EncodeToString(h.Sum(nil))
}

func verifyStandard(h execution.FunctionHook, header http.Header, body []byte, now time.Time) (Proof, error) {
	var values [3]string
	for i, name := range []string{"Webhook-Id", "Webhook-Timestamp", "Webhook-Signature"} {
		var err error
		if values[i], err = one(header, name); err != nil {
			return Proof{}, err
		}
	}
	if !messageID(values[0]) {
		return Proof{}, refused(
			"the header Webhook-Id is too long, or has a full stop or a character that is not visible ASCII",
		)
	}
	if !standardSignatures(values[2]) {
		return Proof{}, refused("the header Webhook-Signature is not a list of versions and signatures")
	}
	until, err := timely(h, values[1], now)
	if err != nil {
		return Proof{}, err
	}
	key, err := standardKey(h)
	if err != nil || key.VerifyIgnoringTimestamp(body, header) != nil {
		return Proof{}, refused("the signature is not valid")
	}
	// A message keeps its ID when it is sent again, even hours later, and is signed again.
	return Proof{Key: digest(Standard, values[0]), Mark: digest(values[1]), Until: later(until, now.Add(remembered))}, nil
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// bodySigned verifies an HMAC-SHA256 of the body alone. It is not bound to a time, so the signature is remembered.
func bodySigned(
	h execution.FunctionHook, header http.Header, names []string, prefix string, body []byte, now time.Time,
	decode func(string) ([]byte, error),
) (Proof, error) {
	name := names[0]
	for _, n := range names {
		if len(header.Values(n)) > 0 {
			name = n
			break
		}
	}
	text, err := one(header, name)
	if err != nil {
		return Proof{}, err
	}
	text, ok := strings.CutPrefix(text, prefix)
	got, err := decode(text)
	want := mac([]byte(h.Secret), body)
	if !ok || err != nil || !same(got, want) {
		return Proof{}, refused("the signature is not valid")
	}
	return Proof{Key: digest(h.Scheme, string(want)), Until: now.Add(remembered)}, nil
}

// verifyStripe verifies a Stripe event. Stripe signs an event again each time that it sends it, so its id is the key.
func verifyStripe(h execution.FunctionHook, header http.Header, body []byte, now time.Time) (Proof, error) {
	text, err := one(header, "Stripe-Signature")
	if err != nil {
		return Proof{}, err
	}
	at, signatures, ok := stripeSignature(text)
	if !ok {
		return Proof{}, refused("the header Stripe-Signature is not t=…,v1=…")
	}
	until, err := timely(h, at, now)
	if err != nil {
		return Proof{}, err
	}
	want := mac([]byte(h.Secret), []byte(at), []byte("."), body)
	proof, err := anyOf(Stripe, signatures, want, until)
	var event struct {
		ID string `json:"id"`
	}
	if err == nil && json.Unmarshal(body, &event) == nil && strings.HasPrefix(event.ID, "evt_") {
		proof = proof.ofEvent(Stripe, event.ID, now)
	}
	return proof, err
}

// ofEvent returns the proof of a message that its sender identifies by the id of an event. Sendings hours later are
// the same message.
func (p Proof) ofEvent(scheme, id string, now time.Time) Proof {
	return Proof{Key: digest(scheme, "event", id), Mark: p.Mark, Until: later(p.Until, now.Add(remembered))}
}

// verifySlack verifies a Slack request. An event of the Events API is signed again when it is sent again, so its
// event_id is the key; commands and interactions are sent once.
func verifySlack(h execution.FunctionHook, header http.Header, body []byte, now time.Time) (Proof, error) {
	at, err := one(header, "X-Slack-Request-Timestamp")
	if err != nil {
		return Proof{}, err
	}
	text, err := one(header, "X-Slack-Signature")
	if err != nil {
		return Proof{}, err
	}
	until, err := timely(h, at, now)
	if err != nil {
		return Proof{}, err
	}
	signature, ok := strings.CutPrefix(text, "v0=")
	if !ok {
		return Proof{}, refused("the signature is not valid")
	}
	proof, err := anyOf(Slack, []string{signature}, mac([]byte(h.Secret), []byte("v0:"+at+":"), body), until)
	var event struct {
		ID string `json:"event_id"`
	}
	if err == nil && json.Unmarshal(body, &event) == nil && event.ID != "" {
		proof = proof.ofEvent(Slack, event.ID, now)
	}
	return proof, err
}

// anyOf reports whether the signature is among those given, in hexadecimal. A sender that is changing its secret
// signs with both.
func anyOf(scheme string, signatures []string, want []byte, until time.Time) (Proof, error) {
	good := false
	for _, s := range signatures {
		got, err := lowerHex(s)
		good = same(got, want) && err == nil || good
	}
	if !good {
		return Proof{}, refused("the signature is not valid")
	}
	key := digest(scheme, string(want))
	return Proof{Key: key, Mark: key, Until: until}, nil
}

func verifyShared(h execution.FunctionHook, header http.Header) error {
	good := false
	for _, name := range Headers(h) {
		values := header.Values(name)
		if len(values) > 1 {
			return refused("the header " + name + " is given more than once")
		}
		for _, value := range values {
			if name == "Authorization" {
				value, _ = strings.CutPrefix(value, "Bearer ")
			}
			good = same([]byte(value), []byte(h.Secret)) || good
		}
	}
	if !good {
		return refused("the shared secret is missing or wrong")
	}
	return nil
}
