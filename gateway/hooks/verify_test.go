package hooks_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/hooks"
)

func headers(pairs ...string) http.Header {
	h := http.Header{}
	for _, p := range pairs {
		name, value, _ := strings.Cut(p, ": ")
		h.Add(name, value)
	}
	return h
}

// hmacOf gives the code that senders make with the openssl command: the tests' own, apart from the package's.
func hmacOf(secret, text string) []byte {
	m := hmac.New(sha256.New, []byte(secret))
	m.Write([]byte(text))
	return m.Sum(nil)
}

const (
	slackSecret = "8f742231b10e8888abcd99yyyzzz85a5"
	slackBody   = "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
	stdSecret   = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	stdBody     = `{"test": 2432232314}`
)

type delivery struct {
	name   string
	hook   execution.FunctionHook
	body   string
	at     int64
	header http.Header
}

// published are the examples in the senders' own documents; stripe and shopify publish none, theirs are made here.
func published() []delivery {
	stripe := hex.EncodeToString(hmacOf("whsec_test", "1492774577."+`{"id":"evt_1"}`))
	return []delivery{
		{"standard", execution.FunctionHook{Scheme: hooks.Standard, Secret: stdSecret}, stdBody, 1614265330,
			headers("webhook-id: msg_p5jXN8AQM9LWM0D4loKWxJek", "webhook-timestamp: 1614265330", "webhook-signature: v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")},
		{"standard, two signatures", execution.FunctionHook{Scheme: hooks.Standard, Secret: stdSecret}, stdBody, 1614265330,
			headers("webhook-id: msg_p5jXN8AQM9LWM0D4loKWxJek", "webhook-timestamp: 1614265330", "webhook-signature: v1a,x v1,AAAA v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")},
		{"github", execution.FunctionHook{Scheme: hooks.GitHub, Secret: "It's a Secret to Everybody"}, "Hello, World!", 0,
			headers("X-Hub-Signature-256: sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17")},
		{"slack", execution.FunctionHook{Scheme: hooks.Slack, Secret: slackSecret}, slackBody, 1531420618,
			headers("X-Slack-Request-Timestamp: 1531420618", "X-Slack-Signature: v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503")},
		{"stripe", execution.FunctionHook{Scheme: hooks.Stripe, Secret: "whsec_test"}, `{"id":"evt_1"}`, 1492774577,
			headers("Stripe-Signature: t=1492774577,v1=" + strings.Repeat("00", 32) + ",v1=" + stripe + ",v0=6ffbb59b2300aae63f272406069a9788598b792a944a07aba816edb039989a39")},
		{"shopify", execution.FunctionHook{Scheme: hooks.Shopify, Secret: "hush"}, `{"id":820982911946154508}`, 0,
			headers("X-Shopify-Hmac-Sha256: " + base64.StdEncoding.EncodeToString(hmacOf("hush", `{"id":820982911946154508}`)))},
		{"hmac hex", execution.FunctionHook{Scheme: hooks.HMAC, Secret: "k"}, "body", 0, headers("X-Signature-256: sha256=" + hex.EncodeToString(hmacOf("k", "body")))},
		{"hmac base64, own header", execution.FunctionHook{Scheme: hooks.HMAC, Secret: "k", Header: "X-Mine"}, "body", 0,
			headers("X-Mine: " + base64.StdEncoding.EncodeToString(hmacOf("k", "body")))},
		{"shared", execution.FunctionHook{Scheme: hooks.SharedHeader, Secret: "open sesame"}, "body", 0, headers("X-Webhook-Secret: open sesame")},
		{"shared, own header", execution.FunctionHook{Scheme: hooks.SharedHeader, Secret: "s", Header: "X-Token"}, "", 0, headers("X-Token: s")},
		{"shared, bearer", execution.FunctionHook{Scheme: hooks.SharedHeader, Secret: "s"}, "", 0, headers("Authorization: Bearer s")},
		{"none", execution.FunctionHook{Scheme: hooks.None}, "anything", 0, nil},
	}
}

func (d delivery) verify(body string, header http.Header, now time.Time) (hooks.Proof, error) {
	return hooks.Verify(d.hook, header, []byte(body), now)
}

func refusal(t *testing.T, name string, err error) {
	t.Helper()
	var r *hooks.Refusal
	if !errors.As(err, &r) || r.Reason == "" {
		t.Errorf("%s: %v", name, err)
	}
}

func TestVerify(t *testing.T) {
	t.Parallel()
	for _, d := range published() {
		if err := hooks.Check(d.hook); err != nil {
			t.Errorf("%s: %v", d.name, err)
		}
		now := time.Unix(d.at, 0)
		proof, err := d.verify(d.body, d.header, now)
		if err != nil {
			t.Errorf("%s: %v", d.name, err)
			continue
		}
		signs := d.hook.Scheme != hooks.None && d.hook.Scheme != hooks.SharedHeader
		if again, _ := d.verify(d.body, d.header, now); again != proof || signs != (proof.Key != "" && proof.Until.After(now)) {
			t.Errorf("%s: proof %+v", d.name, proof)
		}
		if !signs {
			continue
		}
		_, err = d.verify(d.body+" ", d.header, now)
		refusal(t, d.name+" with another body", err)
	}
}

func TestVerifyRefuses(t *testing.T) {
	t.Parallel()
	for _, d := range published() {
		if d.hook.Scheme == hooks.None {
			continue
		}
		now := time.Unix(d.at, 0)
		_, err := d.verify(d.body, nil, now)
		refusal(t, d.name+" without headers", err)
		other := d
		other.hook.Secret += "x"
		_, err = other.verify(d.body, d.header, now)
		refusal(t, d.name+" with another secret", err)
		for name, values := range d.header {
			changed := d.header.Clone()
			changed.Set(name, "0"+values[0][:len(values[0])-1])
			_, err = d.verify(d.body, changed, now)
			refusal(t, d.name+" with a changed "+name, err)
			changed.Set(name, "")
			_, err = d.verify(d.body, changed, now)
			refusal(t, d.name+" with an empty "+name, err)
			if d.hook.Scheme == hooks.SharedHeader {
				continue
			}
			twice := d.header.Clone()
			twice.Add(name, values[0])
			_, err = d.verify(d.body, twice, now)
			refusal(t, d.name+" with two "+name, err)
		}
		if d.at == 0 {
			continue
		}
		for _, off := range []time.Duration{301 * time.Second, -301 * time.Second, 1000 * time.Hour} {
			_, err = d.verify(d.body, d.header, now.Add(off))
			refusal(t, d.name+" at "+off.String(), err)
		}
		for _, off := range []time.Duration{300 * time.Second, -300 * time.Second} {
			if _, err = d.verify(d.body, d.header, now.Add(off)); err != nil {
				t.Errorf("%s at %s: %v", d.name, off, err)
			}
		}
		narrow := d
		narrow.hook.ToleranceSeconds = 10
		_, err = narrow.verify(d.body, d.header, now.Add(11*time.Second))
		refusal(t, d.name+" beyond its own tolerance", err)
	}
}

// A message that its sender sends again has the same key and another mark.
func TestSentAgain(t *testing.T) {
	t.Parallel()
	d := published()[0]
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(stdSecret, "whsec_"))
	if err != nil {
		t.Fatal(err)
	}
	first, err := d.verify(d.body, d.header, time.Unix(d.at, 0))
	if err != nil {
		t.Fatal(err)
	}
	signed := base64.StdEncoding.EncodeToString(hmacOf(string(key), "msg_p5jXN8AQM9LWM0D4loKWxJek.1614265930."+stdBody))
	again, err := d.verify(d.body, headers("webhook-id: msg_p5jXN8AQM9LWM0D4loKWxJek", "webhook-timestamp: 1614265930", "webhook-signature: v1,"+signed), time.Unix(d.at+600, 0))
	if err != nil || again.Key != first.Key || again.Mark == first.Mark {
		t.Errorf("%+v %+v %v", first, again, err)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		hook  execution.FunctionHook
		field string
	}{
		{execution.FunctionHook{}, "hook.scheme"},
		{execution.FunctionHook{Scheme: "GitHub"}, "hook.scheme"},
		{execution.FunctionHook{Scheme: "none", Secret: "x"}, "hook.secret"},
		{execution.FunctionHook{Scheme: "standard", Secret: "whsec_!"}, "hook.secret"},
		{execution.FunctionHook{Scheme: "github", Secret: "x", Header: "X-Y"}, "hook.header"},
		{execution.FunctionHook{Scheme: "hmac-sha256", Secret: "x", Header: "X Y"}, "hook.header"},
		{execution.FunctionHook{Scheme: "stripe", Secret: "x", ToleranceSeconds: -1}, "hook.toleranceSeconds"},
		{execution.FunctionHook{Scheme: "stripe", Secret: "x", ToleranceSeconds: 86401}, "hook.toleranceSeconds"},
	} {
		var e *execution.Error
		if err := hooks.Check(c.hook); !errors.As(err, &e) || e.Field != c.field {
			t.Errorf("%s: %v", c.field, err)
		}
	}
	_, err := hooks.Verify(execution.FunctionHook{Scheme: "other"}, nil, nil, time.Now())
	refusal(t, "unknown scheme", err)
}

func FuzzVerify(f *testing.F) {
	for _, d := range published() {
		for _, v := range d.header {
			f.Add(d.hook.Scheme, v[0], d.body)
		}
	}
	f.Fuzz(func(t *testing.T, scheme, value, body string) {
		h := execution.FunctionHook{Scheme: scheme, Secret: "a secret nobody guesses"}
		header := http.Header{}
		for _, name := range append(hooks.Headers(h), "Webhook-Id", "Webhook-Timestamp", "Webhook-Signature", "Stripe-Signature", "X-Slack-Signature", "X-Slack-Request-Timestamp", "X-Hub-Signature-256", "X-Shopify-Hmac-Sha256") {
			header.Set(name, value)
		}
		if _, err := hooks.Verify(h, header, []byte(body), time.Unix(1531420618, 0)); err == nil && scheme != hooks.None {
			t.Errorf("%q took %q", scheme, value)
		}
	})
}
