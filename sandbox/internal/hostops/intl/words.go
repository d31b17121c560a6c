package intl

import (
	"encoding/binary"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"github.com/airlock-run/airlock/sandbox/internal/hostops"
	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// maxSegment bounds one segment, in bytes of UTF-8: the library that finds its end cannot be interrupted.
const (
	maxSegment  = 32 << 10
	segmentWork = 100 // a byte
)

// intlSegment answers intl.segment(granularity, text): it returns where the segments of a text end (UAX #29), as
// 32-bit numbers of UTF-16 units. With the granularity word, segments that are not words have negative numbers.
func intlSegment(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	granularity, _ := c.Word(a[0], 16)
	rest, ok, err := c.Str(a[1], hostops.MaxBytes)
	if err != nil {
		return 0, err
	}
	if !ok {
		return 0, hostops.ErrForged
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
	ends := hostops.Buffer{C: c}
	end := int32(0)
	for state := -1; rest != ""; {
		window := rest
		if len(rest) > maxSegment {
			n := maxSegment
			for !utf8.RuneStart(rest[n]) {
				n--
			}
			window = rest[:n]
		}
		segment, after, next := cut(window, state)
		if after == "" && len(window) < len(rest) {
			return 0, hostops.Throwf("RangeError", "a segment has more than %d bytes", maxSegment)
		}
		if err := c.Work(segmentWork * (4 + len(segment))); err != nil {
			return 0, err
		}
		state, rest = next, rest[len(segment):]
		for _, r := range segment {
			end += int32(utf16.RuneLen(r))
		}
		marked := end
		if granularity == "word" && !strings.ContainsFunc(segment, inWord) {
			marked = -end
		}
		if err := ends.Room(4); err != nil {
			return 0, err
		}
		ends.B = binary.LittleEndian.AppendUint32(ends.B, uint32(marked))
	}
	return c.NewBytes(ends.B)
}

// inWord reports whether a segment with r is a word.
func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// intlLikely answers intl.likely(tag, minimize): it adds the likely subtags of a language tag, or removes them.
func intlLikely(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	text, ok := c.Word(a[0], 128)
	tag, err := language.Raw.Parse(text)
	if !ok || err != nil {
		return 0, hostops.ErrForged
	}
	likely := func(t language.Tag) string {
		base, _ := t.Base()
		script, _ := t.Script()
		region, _ := t.Region()
		return base.String() + "-" + script.String() + "-" + region.String()
	}
	most := likely(tag)
	if minimize, _ := a[1].Int(); minimize == 0 {
		return c.NewString(most)
	}
	parts := strings.Split(most, "-")
	for _, short := range []string{parts[0], parts[0] + "-" + parts[2], parts[0] + "-" + parts[1]} {
		if t, err := language.Raw.Parse(short); err == nil && likely(t) == most {
			return c.NewString(short)
		}
	}
	return c.NewString(most)
}

// intlName answers intl.name(type, code, locale): it returns the name of a language, region or script in a locale, or
// null if it has none there.
func intlName(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	kind, _ := c.Word(a[0], 16)
	code, ok := c.Word(a[1], 128)
	locale, ok1 := c.Word(a[2], 128)
	in, err := language.Parse(locale)
	if !ok || !ok1 || err != nil {
		return quickjs.Null, nil
	}
	if base, _ := in.Base(); base.String() == "nb" {
		in = language.Norwegian // package display has no nb, and takes Danish for it
	}
	name := ""
	switch kind {
	case "language":
		if tag, err := language.Parse(code); err == nil {
			name = nameIn(display.Tags(in), tag)
		}
	case "region":
		if region, err := language.ParseRegion(code); err == nil {
			name = nameIn(display.Regions(in), region)
		}
	case "script":
		if script, err := language.ParseScript(code); err == nil {
			name = nameIn(display.Scripts(in), script)
		}
	}
	if name == "" {
		return quickjs.Null, nil
	}
	return c.NewString(name)
}

// nameIn returns a name by a namer, which is nil for a language that has no names.
func nameIn(namer display.Namer, of any) string {
	if namer == nil {
		return ""
	}
	return namer.Name(of)
}
