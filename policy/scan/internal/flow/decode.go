package flow

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"strconv"
	"strings"

	"github.com/airlock-run/airlock/policy/scan/internal/catalogue"
	"github.com/airlock-run/airlock/policy/threat"
)

// invokeText handles the functions that return text: String, fromCharCode, atob, Buffer.from and their like.
func (cs *calls) invokeText(s *catalogue.Symbol, c call) *value {
	switch s.Role {
	case catalogue.RoleCharCode:
		return cs.charCodes(c.args)
	case catalogue.RoleDecode:
		return cs.decode(s, c)
	case catalogue.RoleEncode:
		if c.arg(0).isCoded() {
			cs.findings.add(threat.EncodingTricks, catalogue.NeverGranted, "", c.at,
				"a chain of atob and btoa hides what a string holds")
			return &value{kind: kindDecoded, coded: true}
		}
		if text, ok := cs.values.textOf(c.arg(0)); ok && len(text) <= maxFoldedBytes {
			return textValue(base64.StdEncoding.EncodeToString([]byte(text)))
		}
	case catalogue.RolePercent:
		if text, ok := cs.values.textOf(c.arg(0)); ok && len(text) <= maxFoldedBytes {
			return &value{kind: kindText, text: url.PathEscape(text), decoded: c.arg(0).isDecoded(), coded: c.arg(0).isCoded()}
		}
		if c.arg(0).isDecoded() {
			return c.arg(0)
		}
		return &value{kind: kindPercent}
	case catalogue.RoleEscape:
		if text, ok := cs.values.textOf(c.arg(0)); ok && !strings.ContainsFunc(text, func(r rune) bool { return r > 0x7f }) {
			return &value{kind: kindText, text: text, decoded: c.arg(0).isDecoded(), coded: c.arg(0).isCoded()}
		}
		return c.arg(0).decodedText()
	case catalogue.RoleSymbol:
		if text, ok := cs.values.textOf(c.arg(0)); ok {
			o := &object{}
			cs.values.set(o, "description", textValue(text))
			return &value{kind: kindObject, obj: o}
		}
	case catalogue.RoleSpread:
		return cs.values.spreadOf(c.arg(0))
	case catalogue.RoleRaw:
		return c.template
	case catalogue.RoleString:
		if text, ok := cs.values.textOf(c.arg(0)); ok {
			return &value{kind: kindText, text: text, decoded: c.arg(0).isDecoded()}
		}
		return c.arg(0).decodedText()
	case catalogue.RoleParseInt:
		if text, ok := cs.values.textOf(c.arg(0)); ok {
			if base, ok := intArg(c.arg(1), 10); ok && (base == 0 || base >= 2 && base <= 36) {
				if n, err := strconv.ParseInt(text, base, 53); err == nil {
					return &value{kind: kindNumber, num: float64(n)}
				}
			}
		}
	}
	return nil
}

func (cs *calls) charCodes(args []*value) *value {
	var b strings.Builder
	for _, a := range args {
		if a == nil || a.alt != nil || a.kind != kindNumber || a.num < 0 || a.num > 0x10ffff || b.Len() > maxFoldedBytes {
			return &value{kind: kindDecoded}
		}
		b.WriteRune(rune(a.num))
	}
	if len(args) == 0 {
		return &value{kind: kindDecoded}
	}
	return &value{kind: kindText, text: b.String(), decoded: true}
}

// decode returns what a decoder makes of a constant, and reports chains of decoders.
func (cs *calls) decode(s *catalogue.Symbol, c call) *value {
	in := c.arg(0)
	encoding, _ := cs.values.textOf(c.arg(1))
	fromBuffer := s.Name == "Buffer.from"
	if fromBuffer && encoding == "" {
		return in
	}
	if s.Name == "atob" && in.isCoded() {
		cs.findings.add(threat.EncodingTricks, catalogue.NeverGranted, "", c.at,
			"a chain of decoders hides what a string holds")
	}
	if in != nil && in.kind == kindPercent {
		return nil // unescape(encodeURIComponent(s)): bytes of UTF-8, nothing hidden
	}
	text, ok := cs.values.textOf(in)
	if !ok || len(text) > maxFoldedBytes {
		if fromBuffer {
			return &value{kind: kindBytes, of: &value{kind: kindDecoded, coded: true}}
		}
		if s.Name == "decodeURIComponent" || s.Name == "decodeURI" {
			return in.decodedText()
		}
		return &value{kind: kindDecoded, coded: true}
	}
	plain, ok := decodeText(s.Name, encoding, text)
	if !ok {
		return &value{kind: kindDecoded, coded: true}
	}
	out := &value{kind: kindText, text: plain, decoded: plain != text,
		coded: plain != text && (s.Name == "atob" || fromBuffer)}
	out.decoded, out.coded = out.decoded || in.isDecoded(), out.coded || in.isCoded()
	if fromBuffer {
		return &value{kind: kindBytes, of: out}
	}
	return out
}

func decodeText(decoder, encoding, text string) (string, bool) {
	switch {
	case decoder == "atob", encoding == "base64", encoding == "base64url":
		encoding := base64.RawStdEncoding
		if strings.ContainsAny(text, "-_") {
			encoding = base64.RawURLEncoding
		}
		if strings.IndexByte(text, ' ') >= 0 {
			text = strings.ReplaceAll(text, " ", "")
		}
		b, err := encoding.DecodeString(strings.TrimRight(text, "=")) // it passes over line ends
		return string(b), err == nil
	case encoding == "hex":
		b, err := hex.DecodeString(text)
		return string(b), err == nil
	case decoder == "Buffer.from":
		return text, true
	}
	plain, err := url.PathUnescape(text)
	return plain, err == nil
}
