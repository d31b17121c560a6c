package mcp

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/airlock-run/airlock/functions/execution"
)

// rank returns the tools that match the words of a query, best first (BM25 over names and descriptions). Without words,
// all match. A word also matches the beginning of a longer one, for less, and in a tool that lacks it another verb for
// the same thing, for less still.
func rank(tools []execution.Tool, query string) []execution.Tool {
	words := wordsOf(query)
	if len(words) == 0 {
		return tools
	}
	slices.Sort(words)
	words = slices.Compact(words)
	all := make([]occurrences, len(tools))
	found := make([]float64, len(words)) // tools that have each word
	total := 0.0
	for i, t := range tools {
		all[i] = occurrencesIn(t, words)
		total += all[i].length
		for w, weight := range all[i].weights {
			if weight > 0 {
				found[w]++
			}
		}
	}
	type hit struct {
		tool  execution.Tool
		score float64
	}
	var hits []hit
	average := total / math.Max(float64(len(tools)), 1)
	for i, o := range all {
		score := 0.0
		for w, weight := range o.weights {
			rare := math.Log(1 + (float64(len(tools))-found[w]+0.5)/(found[w]+0.5))
			score += rare * weight * (saturation + 1) / (weight + saturation*(1-lengthEffect+lengthEffect*o.length/average))
		}
		if score > 0 {
			hits = append(hits, hit{tools[i], score})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.score, a.score) })
	out := make([]execution.Tool, len(hits))
	for i, h := range hits {
		out[i] = h.tool
	}
	return out
}

// occurrences says how often the words of a query occur in the name and the description of a tool.
type occurrences struct {
	weights []float64 // of each word of the query
	length  float64   // words of the tool
}

// occurrencesIn returns the occurrences of the words of a query in a tool.
func occurrencesIn(t execution.Tool, words []string) occurrences {
	o := occurrences{weights: make([]float64, len(words))}
	other := make([]float64, len(words)) // weights of other verbs for the same thing
	count := func(text string, weight float64) {
		for _, has := range wordsOf(text) {
			o.length++
			for w, word := range words {
				o.weights[w] += weight * likeness(has, word)
				if alike[has] != 0 && alike[has] == alike[word] {
					other[w] += weight * alikeWeight
				}
			}
		}
	}
	count(t.Name, nameWeight)
	count(t.Description, 1)
	for w := range words {
		if o.weights[w] == 0 {
			o.weights[w] = other[w]
		}
	}
	return o
}

// The constants of BM25 have their usual values.
const (
	saturation   = 1.2
	lengthEffect = 0.75
	nameWeight   = 3
	alikeWeight  = 0.3
)

// likeness returns how well a word of a text matches one of a query, from 0 to 1.
func likeness(has, word string) float64 {
	const least = 3 // letters of a beginning
	switch {
	case has == word:
		return 1
	case len(word) >= least && strings.HasPrefix(has, word), len(has) >= least && strings.HasPrefix(word, has):
		return 0.5
	}
	return 0
}

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
