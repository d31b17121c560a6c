package mcp

import (
	"bytes"
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/declarations"
)

// The most of a query that is looked at: the longest question has fewer words, and each costs time.
const (
	maxQueryBytes = 2000
	maxQueryWords = 32
)

// A toolIndex finds tools by their words. A search takes time in proportion to what it finds, and not to the texts.
type toolIndex struct {
	tools   []execution.Tool
	at      map[string]int // of each tool, by its name
	lengths []float64      // of each tool, in words
	words   []string       // sorted
	places  [][]place      // of each word
	groups  map[int][]int  // the words of each group of alike verbs

	mu       sync.Mutex
	declared map[int]string // the declarations that somebody asked for
}

// A place says how often a tool has a word.
type place struct {
	tool   int
	weight float64
}

func newToolIndex(tools []execution.Tool) *toolIndex {
	x := &toolIndex{
		tools: tools, at: make(map[string]int, len(tools)), lengths: make([]float64, len(tools)), groups: map[int][]int{},
		declared: map[int]string{},
	}
	found := map[string][]place{}
	for i, t := range tools {
		x.at[t.Name] = i
		for _, field := range []struct {
			text   string
			weight float64
		}{{t.Name, nameWeight}, {t.Description, 1}} {
			for _, word := range wordsOf(field.text) {
				x.lengths[i]++
				places := found[word]
				if n := len(places); n == 0 || places[n-1].tool != i {
					places = append(places, place{tool: i})
				}
				places[len(places)-1].weight += field.weight
				found[word] = places
			}
		}
	}
	x.words = slices.Sorted(maps.Keys(found))
	for i, word := range x.words {
		x.places = append(x.places, found[word])
		if group := alike[word]; group != 0 {
			x.groups[group] = append(x.groups[group], i)
		}
	}
	return x
}

// declaration returns the declaration of a tool of the index. A long schema takes milliseconds.
func (x *toolIndex) declaration(t execution.Tool) string {
	i, ok := x.at[t.Name]
	if !ok { // it was listed meanwhile
		return declarations.Tools([]execution.Tool{t})
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	text, ok := x.declared[i]
	if !ok {
		text = declarations.Tools(x.tools[i : i+1])
		x.declared[i] = text
	}
	return text
}

// matches calls fn with each word that matches one of a query, and how well it does.
func (x *toolIndex) matches(word string, fn func(has int, likeness float64)) {
	const least = 3 // letters of a beginning
	for n := least; n < len(word); n++ {
		if i, ok := slices.BinarySearch(x.words, word[:n]); ok {
			fn(i, 0.5)
		}
	}
	i, ok := slices.BinarySearch(x.words, word)
	if ok {
		fn(i, 1)
		i++
	}
	for ; len(word) >= least && i < len(x.words) && strings.HasPrefix(x.words[i], word); i++ {
		fn(i, 0.5)
	}
}

// rank returns those of some tools of the index that match the words of a query, best first (BM25 over names and
// descriptions). Without words, all match. A word also matches the beginning of a longer one, for less, and in a tool
// that lacks it another verb for the same thing, for less still.
func (x *toolIndex) rank(tools []execution.Tool, query string) []execution.Tool {
	words := wordsOf(query[:min(len(query), maxQueryBytes)])
	if len(words) == 0 {
		return tools
	}
	words = words[:min(len(words), maxQueryWords)]
	slices.Sort(words)
	words = slices.Compact(words)
	weights, others := make([]float64, len(x.tools)*len(words)), make([]float64, len(x.tools)*len(words))
	for w, word := range words {
		add := func(to []float64, has int, factor float64) {
			for _, p := range x.places[has] {
				to[p.tool*len(words)+w] += p.weight * factor
			}
		}
		x.matches(word, func(has int, likeness float64) { add(weights, has, likeness) })
		if group := alike[word]; group != 0 {
			for _, has := range x.groups[group] {
				add(others, has, alikeWeight)
			}
		}
	}
	type counts struct {
		tool   int       // its place in tools
		weight []float64 // of each word
		length float64
		score  float64
	}
	var (
		all   = make([]counts, 0, len(tools))
		found = make([]float64, len(words)) // tools that have each word
		total float64
	)
	for n := range tools {
		i, ok := x.at[tools[n].Name]
		if !ok {
			continue // it was listed meanwhile
		}
		from, to := i*len(words), (i+1)*len(words)
		c := counts{tool: n, weight: weights[from:to], length: x.lengths[i]}
		for w := range words {
			if c.weight[w] == 0 {
				c.weight[w] = others[from+w]
			}
			if c.weight[w] > 0 {
				found[w]++
			}
		}
		total += c.length
		all = append(all, c)
	}
	average := total / math.Max(float64(len(all)), 1)
	var hits []counts
	for _, c := range all {
		for w, weight := range c.weight {
			rare := math.Log(1 + (float64(len(all))-found[w]+0.5)/(found[w]+0.5))
			c.score += rare * weight * (saturation + 1) / (weight + saturation*(1-lengthEffect+lengthEffect*c.length/average))
		}
		if c.score > 0 {
			hits = append(hits, c)
		}
	}
	slices.SortStableFunc(hits, func(a, b counts) int { return cmp.Compare(b.score, a.score) })
	out := make([]execution.Tool, len(hits))
	for i, h := range hits {
		out[i] = tools[h.tool]
	}
	return out
}

// An indexCache keeps the index of the tools that were listed last. It is safe for concurrent use.
type indexCache struct {
	mu   sync.Mutex
	last *toolIndex
}

// of returns the index of tools.
func (c *indexCache) of(tools []execution.Tool) *toolIndex {
	c.mu.Lock()
	defer c.mu.Unlock()
	same := func(a, b execution.Tool) bool {
		return a.Name == b.Name && a.Description == b.Description && bytes.Equal(a.InputSchema, b.InputSchema) &&
			bytes.Equal(a.OutputSchema, b.OutputSchema)
	}
	if c.last == nil || !slices.EqualFunc(c.last.tools, tools, same) {
		c.last = newToolIndex(tools)
	}
	return c.last
}

// The constants of BM25 have their usual values.
const (
	saturation   = 1.2
	lengthEffect = 0.75
	nameWeight   = 3
	alikeWeight  = 0.3
)

// alike numbers the verbs that names of tools use for the same thing, by their group.
var alike = func() map[string]int {
	groups := []string{
		"create add new open make insert", "send post", "get fetch read retrieve show", "list all every",
		"search find query look", "update change edit modify set", "delete remove erase drop", "start run execute invoke",
		"stop end cancel", "mute silence",
	}
	numbers := map[string]int{}
	for i, group := range groups {
		for word := range strings.FieldsSeq(group) {
			numbers[word] = i + 1
		}
	}
	return numbers
}()

// sibilants are ends of words whose plural ends with es.
var sibilants = []string{"ch", "sh", "x", "ss"}

// wordsOf returns the words of a text in lower case. A capital letter begins a word, as in getWeather; a plural is its
// singular.
func wordsOf(text string) (words []string) {
	var word []rune
	end := func() {
		if w := string(word); w != "" {
			switch {
			case len(w) > 4 && strings.HasSuffix(w, "ies"):
				w = w[:len(w)-3] + "y"
			case len(w) > 4 && strings.HasSuffix(w, "es") && slices.ContainsFunc(sibilants, func(end string) bool {
				return strings.HasSuffix(w[:len(w)-2], end)
			}):
				w = w[:len(w)-2]
			case len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss"):
				w = w[:len(w)-1]
			}
			words = append(words, w)
		}
		word = word[:0]
	}
	var before rune
	for _, r := range text {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) || unicode.IsUpper(r) && unicode.IsLower(before) {
			end()
		}
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			word = append(word, unicode.ToLower(r))
		}
		before = r
	}
	end()
	return words
}
