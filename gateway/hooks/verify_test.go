package hooks_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"regexp"
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

// hmacOf returns the signature that senders compute with the openssl command, independent of the package.
func hmacOf(secret, text string) []byte {
	m := hmac.New(sha256.New, []byte(secret))
	m.Write([]byte(text))
	return m.Sum(nil)
}

const (
	slackSecret = "8f742231b10e8888abcd99yyyzzz85a5"
	slackBody   = "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&" +
		"channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&" +
		"response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&" +
		"trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
	stdSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	stdBody   = `{"test": 2432232314}`
)

type delivery struct {
	name   string
	hook   execution.FunctionHook
	body   string
	at     int64
	header http.Header
}

// published are the examples in the senders' own documentation. stripe and shopify publish none, so theirs are made
// here.
func published() []delivery {
	stripe := hex.EncodeToString(hmacOf("whsec_test0123456789abcdefghij", "1492774577."+`{"id":"evt_1"}`))
	return []delivery{
		{"standard", execution.FunctionHook{Scheme: hooks.Standard, Secret: stdSecret}, stdBody, 1614265330,
			headers(
				"webhook-id: msg_p5jXN8AQM9LWM0D4loKWxJek", "webhook-timestamp: 1614265330",
				"webhook-signature: v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
			)},
		{"standard, two signatures", execution.FunctionHook{Scheme: hooks.Standard, Secret: stdSecret}, stdBody, 1614265330,
			headers(
				"webhook-id: msg_p5jXN8AQM9LWM0D4loKWxJek", "webhook-timestamp: 1614265330",
				"webhook-signature: v1a,x v1,AAAA v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
			)},
		{"github", execution.FunctionHook{Scheme: hooks.GitHub, Secret: "It's a Secret to Everybody"}, "Hello, World!", 0,
			headers("X-Hub-Signature-256: sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17")},
		{"slack", execution.FunctionHook{Scheme: hooks.Slack, Secret: slackSecret}, slackBody, 1531420618,
			headers(
				"X-Slack-Request-Timestamp: 1531420618",
				"X-Slack-Signature: v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
			)},
		{"stripe", execution.FunctionHook{
			Scheme: hooks.Stripe, Secret: "whsec_test0123456789abcdefghij",
		}, `{"id":"evt_1"}`, 1492774577,
			headers(
				"Stripe-Signature: t=1492774577,v1=" + strings.Repeat("00", 32) + ",v1=" + stripe +
					",v0=6ffbb59b2300aae63f272406069a9788598b792a944a07aba816edb039989a39",
			)},
		{"shopify", execution.FunctionHook{
			Scheme: hooks.Shopify, Secret: "hush, and hush again",
		}, `{"id":820982911946154508}`, 0,
			headers(
				"X-Shopify-Hmac-Sha256: " + base64.StdEncoding.EncodeToString(
					hmacOf("hush, and hush again", `{"id":820982911946154508}`),
				),
			)},
		{
			"hmac hex", execution.FunctionHook{Scheme: hooks.HMAC, Secret: "k0123456789abcdef"}, "body", 0,
			headers("X-Signature-256: sha256=" + hex.EncodeToString(hmacOf("k0123456789abcdef", "body"))),
		},
		{"hmac base64, own header", execution.FunctionHook{
			Scheme: hooks.HMAC, Secret: "k0123456789abcdef", Header: "X-Mine",
		}, "body", 0,
			headers("X-Mine: " + base64.StdEncoding.EncodeToString(hmacOf("k0123456789abcdef", "body")))},
		{
			"shared", execution.FunctionHook{Scheme: hooks.SharedHeader, Secret: "open sesame, sixteen"}, "body", 0,
			headers("X-Webhook-Secret: open sesame, sixteen"),
		},
		{
			"shared, own header",
			execution.FunctionHook{Scheme: hooks.SharedHeader, Secret: "s0123456789abcdef", Header: "X-Token"}, "", 0,
			headers("X-Token: s0123456789abcdef"),
		},
		{
			"shared, bearer", execution.FunctionHook{Scheme: hooks.SharedHeader, Secret: "s0123456789abcdef"}, "", 0,
			headers("Authorization: Bearer s0123456789abcdef"),
		},
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
		if again, _ := d.verify(d.body, d.header, now); again != proof ||
			signs != (proof.Key != "" && proof.Until.After(now)) {
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
func TestRepeatedDelivery(t *testing.T) {
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
	again, err := d.verify(
		d.body,
		headers("webhook-id: msg_p5jXN8AQM9LWM0D4loKWxJek", "webhook-timestamp: 1614265930", "webhook-signature: v1,"+signed),
		time.Unix(d.at+600, 0),
	)
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
		{execution.FunctionHook{Scheme: "standard", Secret: "whsec_"}, "hook.secret"},
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

// A key that could be guessed counts as none: it is not saved, and where it is stored already, it verifies nothing.
func TestShortKeys(t *testing.T) {
	t.Parallel()
	short := []string{
		"", " ", "a", "whsec_", "whsec_ ", "whsec_AA==", "whsec_QUFBQUFBQUFBQUFBQUFB", "0123456789abcde",
		strings.Repeat(" ", 32), "whsec_123456789012345",
	}
	now := time.Unix(1_700_000_000, 0)
	at := "1700000000"
	for _, scheme := range hooks.Schemes() {
		if scheme == hooks.None {
			continue
		}
		for _, secret := range short {
			h := execution.FunctionHook{Scheme: scheme, Secret: secret}
			var e *execution.Error
			if err := hooks.Check(h); secret != "" && (!errors.As(err, &e) || e.Field != "hook.secret") {
				t.Errorf("%s takes %q: %v", scheme, secret, err)
			}
			// The guesses of an attacker, as text and decoded.
			decoded, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
			for _, key := range []string{secret, strings.TrimPrefix(secret, "whsec_"), string(decoded)} {
				sum := hmacOf(key, "{}")
				header := headers(
					"X-Hub-Signature-256: sha256="+hex.EncodeToString(sum),
					"X-Shopify-Hmac-Sha256: "+base64.StdEncoding.EncodeToString(sum),
					"X-Signature-256: "+hex.EncodeToString(sum),
					"Stripe-Signature: t="+at+",v1="+hex.EncodeToString(hmacOf(key, at+".{}")),
					"X-Slack-Request-Timestamp: "+at, "X-Slack-Signature: v0="+hex.EncodeToString(hmacOf(key, "v0:"+at+":{}")),
					"Webhook-Id: m", "Webhook-Timestamp: "+at,
					"Webhook-Signature: v1,"+base64.StdEncoding.EncodeToString(hmacOf(key, "m."+at+".{}")),
					"X-Webhook-Secret: "+key,
				)
				_, err := hooks.Verify(h, header, []byte("{}"), now)
				refusal(t, fmt.Sprintf("%s with %q", scheme, secret), err)
			}
			if _, err := hooks.Sign(h, "m", []byte("{}"), now); err == nil {
				t.Errorf("%s signs with %q", scheme, secret)
			}
		}
		good := execution.FunctionHook{
			Scheme: scheme, Secret: "whsec_" + base64.StdEncoding.EncodeToString([]byte("0123456789abcdef")),
		}
		if err := hooks.Check(good); err != nil {
			t.Errorf("%s: %v", scheme, err)
		}
	}
}

// Each part of a signature has exactly one form: the one that its sender writes.
func TestSignatureForms(t *testing.T) {
	t.Parallel()
	const key, at, body = "a secret nobody guesses", "1700000000", "{}"
	now := time.Unix(1_700_000_000, 0)
	text := func(sum []byte) string { return hex.EncodeToString(sum) }
	stripe := func(at string) string { return text(hmacOf(key, at+"."+body)) }
	slack := func(at string) []string {
		return []string{"X-Slack-Request-Timestamp: " + at, "X-Slack-Signature: v0=" + text(hmacOf(key, "v0:"+at+":"+body))}
	}
	std := func(id, at, before string) []string {
		sum := base64.StdEncoding.EncodeToString(hmacOf(key, id+"."+at+"."+body))
		return []string{"Webhook-Id: " + id, "Webhook-Timestamp: " + at, "Webhook-Signature: " + before + sum}
	}
	plain, upper := text(hmacOf(key, body)), strings.ToUpper(text(hmacOf(key, body)))
	sum := base64.StdEncoding.EncodeToString(hmacOf(key, body))
	loose := sum[:len(sum)-2] + string(sum[len(sum)-2]+1) + "=" // the same bytes, unused bits not at zero
	for name, c := range map[string]struct {
		scheme string
		header []string
		good   bool
	}{
		"stripe": {"stripe", []string{"Stripe-Signature: t=" + at + ",v1=" + stripe(at)}, true},
		"stripe, other versions": {
			"stripe", []string{"Stripe-Signature: v0=ab,t=" + at + ",v2=cd,v1=" + stripe(at)}, true,
		},
		"stripe, plus":  {"stripe", []string{"Stripe-Signature: t=+" + at + ",v1=" + stripe("+"+at)}, false},
		"stripe, zeros": {"stripe", []string{"Stripe-Signature: t=00" + at + ",v1=" + stripe("00"+at)}, false},
		"stripe, minus": {"stripe", []string{"Stripe-Signature: t=-" + at + ",v1=" + stripe("-"+at)}, false},
		"stripe, underscore": {
			"stripe", []string{"Stripe-Signature: t=1_700_000_000,v1=" + stripe("1_700_000_000")}, false,
		},
		"stripe, other digits": {
			"stripe", []string{"Stripe-Signature: t=\u0661700000000,v1=" + stripe("\u0661700000000")}, false,
		},
		"stripe, white space": {"stripe", []string{"Stripe-Signature: t=" + at + ", v1=" + stripe(at)}, false},
		"stripe, two times": {
			"stripe", []string{"Stripe-Signature: t=" + at + ",t=" + at + ",v1=" + stripe(at)}, false,
		},
		"stripe, no signature": {"stripe", []string{"Stripe-Signature: t=" + at}, false},
		"stripe, upper case": {
			"stripe", []string{"Stripe-Signature: t=" + at + ",v1=" + strings.ToUpper(stripe(at))}, false,
		},
		"stripe, upper name":     {"stripe", []string{"Stripe-Signature: T=" + at + ",v1=" + stripe(at)}, false},
		"stripe, trailing comma": {"stripe", []string{"Stripe-Signature: t=" + at + ",v1=" + stripe(at) + ","}, false},
		"stripe, many signatures": {
			"stripe", []string{"Stripe-Signature: t=" + at + strings.Repeat(",v1="+plain, 20) + ",v1=" + stripe(at)}, false,
		},
		"slack":       {"slack", slack(at), true},
		"slack, plus": {"slack", slack("+" + at), false},
		"slack, zero": {"slack", slack("0" + at), false},
		"slack, upper case": {
			"slack", []string{slack(at)[0], "X-Slack-Signature: v0=" + strings.ToUpper(text(hmacOf(key, "v0:"+at+":"+body)))},
			false,
		},
		"standard":                  {"standard", std("m", at, "v1,"), true},
		"standard, two":             {"standard", std("m", at, "v1a,AAAA v1,"), true},
		"standard, plus":            {"standard", std("m", "+"+at, "v1,"), false},
		"standard, zero":            {"standard", std("m", "0"+at, "v1,"), false},
		"standard, full stop in id": {"standard", std("m."+at, at, "v1,"), false},
		"standard, space in id":     {"standard", std("m n", at, "v1,"), false},
		"standard, no version":      {"standard", std("m", at, ""), false},
		"standard, two spaces":      {"standard", std("m", at, "v1,AAAA  v1,"), false},
		"standard, more after comma": {
			"standard", []string{std("m", at, "v1,")[0], std("m", at, "v1,")[1], std("m", at, "v1,")[2] + ",x"}, false,
		},
		"github":                  {"github", []string{"X-Hub-Signature-256: sha256=" + plain}, true},
		"github, upper case":      {"github", []string{"X-Hub-Signature-256: sha256=" + upper}, false},
		"github, no prefix":       {"github", []string{"X-Hub-Signature-256: " + plain}, false},
		"github, prefix in upper": {"github", []string{"X-Hub-Signature-256: SHA256=" + plain}, false},
		"github, longer":          {"github", []string{"X-Hub-Signature-256: sha256=" + plain + "00"}, false},
		"shopify":                 {"shopify", []string{"X-Shopify-Hmac-Sha256: " + sum}, true},
		"shopify, bits left":      {"shopify", []string{"X-Shopify-Hmac-Sha256: " + loose}, false},
		"shopify, no padding":     {"shopify", []string{"X-Shopify-Hmac-Sha256: " + strings.TrimRight(sum, "=")}, false},
		"shopify, line break":     {"shopify", []string{"X-Shopify-Hmac-Sha256: " + sum[:4] + "\n" + sum[4:]}, false},
		"shopify, hexadecimal":    {"shopify", []string{"X-Shopify-Hmac-Sha256: " + plain}, false},
		"hmac, upper case":        {"hmac-sha256", []string{"X-Signature: " + upper}, true},
		"hmac, both cases": {
			"hmac-sha256", []string{"X-Signature: " + upper[:32] + plain[32:]},
			upper[:32] == plain[:32] || upper[32:] == plain[32:],
		},
		"hmac, base64":                {"hmac-sha256", []string{"X-Signature: " + sum}, true},
		"hmac, base64, bits left":     {"hmac-sha256", []string{"X-Signature: " + loose}, false},
		"shared":                      {"shared-header", []string{"X-Webhook-Secret: " + key}, true},
		"shared, among many":          {"shared-header", []string{"X-Webhook-Secret: a", "X-Webhook-Secret: " + key}, false},
		"shared, list in one header":  {"shared-header", []string{"X-Webhook-Secret: a, " + key}, false},
		"shared, bearer in lower":     {"shared-header", []string{"Authorization: bearer " + key}, false},
		"shared, bearer with a space": {"shared-header", []string{"Authorization: Bearer  " + key}, false},
	} {
		_, err := hooks.Verify(execution.FunctionHook{Scheme: c.scheme, Secret: key}, headers(c.header...), []byte(body), now)
		if (err == nil) != c.good {
			t.Errorf("%s: %v", name, err)
		}
	}
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
		for _, name := range append(
			hooks.Headers(h), "Webhook-Id", "Webhook-Timestamp", "Webhook-Signature", "Stripe-Signature", "X-Slack-Signature",
			"X-Slack-Request-Timestamp", "X-Hub-Signature-256", "X-Shopify-Hmac-Sha256",
		) {
			header.Set(name, value)
		}
		if _, err := hooks.Verify(h, header, []byte(body), time.Unix(1531420618, 0)); err == nil && scheme != hooks.None {
			t.Errorf("%q took %q", scheme, value)
		}
	})
}

// FuzzSigned puts a valid signature into any wrapping. What is accepted has the one form that its sender writes.
func FuzzSigned(f *testing.F) {
	f.Add("t=1700000000,v1=%", "1700000000")
	f.Add("t=+1700000000,v1=%", "+1700000000")
	f.Add("t=001700000000,v1=%", "001700000000")
	f.Add("v0=1,t=1700000000,v1=%,", "1700000000")
	f.Add("v1,%", "1700000000")
	f.Add("v0=%", "01700000000")
	const key = "a secret nobody guesses"
	digits := regexp.MustCompile(`^[1-9][0-9]{0,11}$`)
	stripe := regexp.MustCompile(`^[0-9A-Za-z_]+=[0-9A-Za-z_]+(,[0-9A-Za-z_]+=[0-9A-Za-z_]+)*$`)
	standard := regexp.MustCompile(`^[0-9A-Za-z_]+,[!-+\--~]+( [0-9A-Za-z_]+,[!-+\--~]+)*$`)
	f.Fuzz(func(t *testing.T, wrapping, at string) {
		now := time.Unix(1_700_000_000, 0)
		wrap := func(sum string) string { return strings.Replace(wrapping, "%", sum, 1) }
		for scheme, header := range map[string]http.Header{
			hooks.Stripe: {"Stripe-Signature": {wrap(hex.EncodeToString(hmacOf(key, at+".{}")))}},
			hooks.Slack: {
				"X-Slack-Request-Timestamp": {at}, "X-Slack-Signature": {wrap(hex.EncodeToString(hmacOf(key, "v0:"+at+":{}")))},
			},
			hooks.Standard: {"Webhook-Id": {"m"}, "Webhook-Timestamp": {at},
				"Webhook-Signature": {wrap(base64.StdEncoding.EncodeToString(hmacOf(key, "m."+at+".{}")))}},
			hooks.GitHub:  {"X-Hub-Signature-256": {wrap(hex.EncodeToString(hmacOf(key, "{}")))}},
			hooks.Shopify: {"X-Shopify-Hmac-Sha256": {wrap(base64.StdEncoding.EncodeToString(hmacOf(key, "{}")))}},
		} {
			if _, err := hooks.Verify(
				execution.FunctionHook{Scheme: scheme, Secret: key}, header, []byte("{}"), now,
			); err != nil {
				continue
			}
			good := true
			switch scheme {
			case hooks.Stripe:
				good = digits.MatchString(at) && stripe.MatchString(header.Get("Stripe-Signature"))
			case hooks.Slack:
				good = digits.MatchString(at) && wrapping == "v0=%"
			case hooks.Standard:
				good = digits.MatchString(at) && standard.MatchString(header.Get("Webhook-Signature"))
			case hooks.GitHub:
				good = wrapping == "sha256=%"
			case hooks.Shopify:
				good = wrapping == "%"
			}
			if !good {
				t.Errorf("%s takes %q at %q", scheme, wrapping, at)
			}
		}
	})
}
