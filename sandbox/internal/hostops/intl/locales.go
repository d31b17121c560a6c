package intl

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"

	"github.com/airlock-run/airlock/sandbox/internal/hostops"
	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// locales, uncompressed, has a line for each kind of pattern and locale: kind, locale, JSON, or = and the locale of an
// earlier line with the same JSON. It is what Intl of Node.js 20 prints (ICU 78, CLDR 48), read by locales.mjs, which
// says what the JSON means. LICENSE.unicode is its licence.
//
// names has kinds that few programs use, in the same form, and currencies that of currencies. They are files of their
// own, so that others need not read them.
var (
	//go:embed locales.txt.gz
	locales []byte
	//go:embed names.txt.br
	names []byte
	//go:embed currencies.txt.br
	currencies []byte
)

// rareKinds are the kinds in names.
var rareKinds = []string{
	"unit", "zoneName", "exponent", "field", "range", "local", "region",
}

type patternKey struct{ kind, locale string }

// patterns holds the JSON of each line of locales. A process reads the 1.1 MB once, when a guest first needs some of
// it.
var patterns = sync.OnceValues(func() (map[patternKey]string, error) {
	r, err := gzip.NewReader(bytes.NewReader(locales))
	if err != nil {
		return nil, err
	}
	return readPatterns(r, int(binary.LittleEndian.Uint32(locales[len(locales)-4:]))) // its length, with which gzip ends
})

// rarePatterns holds the JSON of each line of names, which a process reads in the same way.
var rarePatterns = sync.OnceValues(func() (map[patternKey]string, error) {
	return readPatterns(brotli.NewReader(bytes.NewReader(names)), 2<<20)
})

// currencyPatterns holds the JSON of each line of currencies.
var currencyPatterns = sync.OnceValues(func() (map[patternKey]string, error) {
	return readPatterns(brotli.NewReader(bytes.NewReader(currencies)), 1<<20)
})

// readPatterns reads lines of a text of about size bytes.
func readPatterns(r io.Reader, size int) (map[patternKey]string, error) {
	var text strings.Builder
	text.Grow(size)
	if _, err := io.Copy(&text, r); err != nil {
		return nil, err
	}
	found := make(map[patternKey]string, 1200)
	for line := range strings.Lines(text.String()) {
		kind, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		locale, pattern, _ := strings.Cut(rest, " ")
		if same, ok := strings.CutPrefix(pattern, "="); ok {
			pattern = found[patternKey{kind, same}]
		}
		found[patternKey{kind, locale}] = pattern
	}
	return found, nil
}

// lookupWork is what a call costs. The first one in a process takes some milliseconds more.
const lookupWork = 1 << 10

// intlData answers intl.data(kind, locale): it returns the patterns of a kind as JSON: those of the locale without
// extensions, or else of the locale without its last subtags. It returns null if there are none.
func intlData(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	kind, _ := c.Word(a[0], 16)
	locale, ok := c.Word(a[1], 128)
	if !ok {
		return quickjs.Null, nil
	}
	if err := c.Work(lookupWork); err != nil {
		return 0, err
	}
	read := patterns
	switch {
	case kind == "currency":
		read = currencyPatterns
	case slices.Contains(rareKinds, kind):
		read = rarePatterns
	}
	all, err := read()
	if err != nil {
		return 0, fmt.Errorf("read the patterns of locales: %w", err)
	}
	for locale, _, _ = strings.Cut(locale, "-u-"); ; {
		if text, found := all[patternKey{kind, locale}]; found {
			return c.NewString(text)
		}
		at := strings.LastIndexByte(locale, '-')
		if at < 0 {
			return quickjs.Null, nil
		}
		locale = locale[:at]
	}
}
