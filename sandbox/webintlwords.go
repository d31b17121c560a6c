package sandbox

import (
	"encoding/binary"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/rivo/uniseg"
	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// intlSegment(granularity, text) gives where a text's segments end, after UAX #29: 32-bit numbers of UTF-16 units, negative
// for what is no word where the granularity is word.
func intlSegment(r *run, in *quickjs.Instance, a []quickjs.Value) (quickjs.Value, error) {
	granularity, _ := in.Str(a[0], 16)
	rest, ok := in.Str(a[1], maxBytes)
	if !ok {
		return 0, errForged
	}
	cut := uniseg.FirstSentenceInString
	switch granularity {
	case "word":
		cut = uniseg.FirstWordInString
	case "grapheme":
		cut = func(s string, state int) (string, string, int) {
			first, rest, _, state := uniseg.FirstGraphemeClusterInString(s, state)
			return first, rest, state
		}
	}
	var ends []byte
	end := int32(0)
	for n, state := 1, -1; rest != ""; n++ {
		var segment string
		segment, rest, state = cut(rest, state)
		for _, c := range segment {
			end += int32(utf16.RuneLen(c))
		}
		marked := end
		if granularity == "word" && !strings.ContainsFunc(segment, func(c rune) bool { return unicode.IsLetter(c) || unicode.IsNumber(c) }) {
			marked = -end
		}
		ends = binary.LittleEndian.AppendUint32(ends, uint32(marked))
		if n%4096 == 0 {
			if err := r.Poll(in); err != nil {
				return 0, err
			}
		}
	}
	return in.Bytes(ends)
}

// intlLikely(tag, minimize) adds the likely subtags of a language tag, or takes them away.
func intlLikely(_ *run, in *quickjs.Instance, a []quickjs.Value) (quickjs.Value, error) {
	text, ok := in.Str(a[0], 128)
	tag, err := language.Raw.Parse(text)
	if !ok || err != nil {
		return 0, errForged
	}
	likely := func(t language.Tag) string {
		base, _ := t.Base()
		script, _ := t.Script()
		region, _ := t.Region()
		return base.String() + "-" + script.String() + "-" + region.String()
	}
	most := likely(tag)
	if minimize, _ := a[1].Int(); minimize == 0 {
		return in.String(most)
	}
	parts := strings.Split(most, "-")
	for _, short := range []string{parts[0], parts[0] + "-" + parts[2], parts[0] + "-" + parts[1]} {
		if t, err := language.Raw.Parse(short); err == nil && likely(t) == most {
			return in.String(short)
		}
	}
	return in.String(most)
}

// intlName(type, code) gives the English name of a language, region or script; null when it has none.
func intlName(_ *run, in *quickjs.Instance, a []quickjs.Value) (quickjs.Value, error) {
	kind, _ := in.Str(a[0], 16)
	code, ok := in.Str(a[1], 128)
	name := ""
	switch english := display.English; {
	case !ok:
	case kind == "language":
		if tag, err := language.Parse(code); err == nil {
			name = english.Tags().Name(tag)
		}
	case kind == "region":
		if region, err := language.ParseRegion(code); err == nil {
			name = english.Regions().Name(region)
		}
	case kind == "script":
		if script, err := language.ParseScript(code); err == nil {
			name = english.Scripts().Name(script)
		}
	}
	if name == "" {
		return quickjs.Null, nil
	}
	return in.String(name)
}
