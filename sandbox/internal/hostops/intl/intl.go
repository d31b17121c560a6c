package intl

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // a function process may have no time zones of its own

	"golang.org/x/text/collate"
	"golang.org/x/text/language"

	"github.com/airlock-run/airlock/sandbox/internal/hostops"
	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// Ops are the operations by name. Every guest may call them.
var Ops = map[string]hostops.Op{
	"intl.zone":    intlZone,
	"intl.compare": intlCompare,
	"intl.locale":  intlLocale,
	"intl.likely":  intlLikely,
	"intl.name":    intlName,
	"intl.segment": intlSegment,
	"intl.data":    intlData,
}

// zoneArg returns the time zone that an argument names in the time zone database.
func zoneArg(c *hostops.Call, v quickjs.Value) (*time.Location, bool) {
	name, ok := c.Word(v, 64)
	if !ok || name == "" || name == "Local" || strings.Contains(name, "..") {
		return nil, false
	}
	if c.Work(16<<10) != nil { // a few dozen kilobytes are read
		return nil, false
	}
	zone, err := time.LoadLocation(name)
	return zone, err == nil
}

// intlZone answers intl.zone(zone, milliseconds since the epoch, as text): it returns [offset in seconds,
// abbreviation, is daylight saving time, name], or null if there is no such zone or time.
func intlZone(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	zone, ok := zoneArg(c, a[0])
	text, ok1 := c.Word(a[1], 32)
	ms, err := strconv.ParseInt(text, 10, 64)
	if !ok || !ok1 || err != nil {
		return quickjs.Null, nil // the library expects null
	}
	t := time.UnixMilli(ms).In(zone)
	name, offset := t.Zone()
	return c.NewJSON([]any{offset, name, t.IsDST(), zone.String()})
}

// maxCompared bounds the UTF-16 units that are compared as a locale sorts, which takes up to three microseconds each
// and cannot be interrupted. The rest of longer strings is compared by code points.
const (
	maxCompared = 4 << 10
	compareWork = 800
)

// intlCompare answers intl.compare(locale, flags, a, b): it compares two strings as the locale sorts and returns a
// negative number, 0 or a positive one. The flags are 1 to order numbers by size, 2 to ignore case, 4 to ignore
// accents too.
func intlCompare(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	locale, _ := c.Word(a[0], 64)
	flags, _ := a[1].Int()
	x, ok := c.In.Text(a[2])
	y, ok1 := c.In.Text(a[3])
	if !ok || !ok1 {
		return 0, hostops.ErrForged
	}
	xFirst, xRest := x.Cut(maxCompared)
	yFirst, yRest := y.Cut(maxCompared)
	if err := c.Work(compareWork * max(64, xFirst.Len()+yFirst.Len())); err != nil {
		return 0, err
	}
	order := collatorOf(c, locale, flags).CompareString(xFirst.String(), yFirst.String())
	for order == 0 && xRest.Len()+yRest.Len() > 0 {
		xFirst, xRest = xRest.Cut(hostops.PieceBytes / 8)
		yFirst, yRest = yRest.Cut(hostops.PieceBytes / 8)
		if err := c.Work(4 * (xFirst.Len() + yFirst.Len())); err != nil {
			return 0, err
		}
		order = strings.Compare(xFirst.String(), yFirst.String())
	}
	return quickjs.Int(int32(order)), nil
}

// maxCollators bounds how many collators a guest makes the host keep.
const maxCollators = 16

type collatorKey struct {
	locale string
	flags  int32
}

// collators holds the collators of one run, which are slow to make.
type collators map[collatorKey]*collate.Collator

func collatorOf(c *hostops.Call, locale string, flags int32) *collate.Collator {
	kept := hostops.State[collators](c)
	key := collatorKey{locale, flags}
	if made := (*kept)[key]; made != nil {
		return made
	}
	tag, err := language.Parse(locale)
	if err != nil {
		tag = language.Und
	}
	var options []collate.Option
	if flags&1 != 0 {
		options = append(options, collate.Numeric)
	}
	if flags&2 != 0 {
		options = append(options, collate.IgnoreCase)
	}
	if flags&4 != 0 {
		options = append(options, collate.Loose)
	}
	made := collate.New(tag, options...)
	if *kept == nil || len(*kept) >= maxCollators {
		*kept = make(collators)
	}
	(*kept)[key] = made
	return made
}

// registered matches a language subtag of the form that RFC 5646 reserves for registered languages. There are none, but
// programs use "fullwide" to print numbers without an exponent.
var registered = regexp.MustCompile("^[A-Za-z]{5,8}$")

// intlLocale answers intl.locale(tag): it returns the canonical form of a language tag, or null if it is not one.
func intlLocale(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	text, ok := c.Word(a[0], 128)
	if !ok || text == "" || strings.ContainsAny(text, "_ ") {
		return quickjs.Null, nil
	}
	known := text
	if first, _, _ := strings.Cut(text, "-"); registered.MatchString(first) {
		known = "und" + text[len(first):] // well-formed, but the parser does not know such languages
	}
	tag, err := language.Raw.Parse(known)
	var unknown language.ValueError
	switch {
	case len(text) < 2:
		return quickjs.Null, nil
	case errors.As(err, &unknown), err == nil && known != text:
		return c.NewString(subtagCase(text)) // well-formed; no table has it
	case err != nil:
		return quickjs.Null, nil
	}
	canonical, err := language.DeprecatedBase.Canonicalize(tag)
	if err != nil {
		canonical = tag
	}
	return c.NewString(canonical.String())
}

// subtagCase writes the subtags of a language tag as RFC 5646 does: Xxxx for scripts, XX for regions.
func subtagCase(tag string) string {
	subtags := strings.Split(strings.ToLower(tag), "-")
	for i, s := range subtags[1:] {
		switch {
		case len(subtags[i]) == 1: // of an extension
			return strings.Join(subtags, "-")
		case len(s) == 4 && s[0] > '9':
			subtags[i+1] = strings.ToUpper(s[:1]) + s[1:]
		case len(s) == 2:
			subtags[i+1] = strings.ToUpper(s)
		}
	}
	return strings.Join(subtags, "-")
}
