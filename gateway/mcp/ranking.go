package mcp

import (
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
	type counts struct {
		tool   execution.Tool
		weight []float64 // of each word
		length float64
		score  float64
	}
	var (
		all   = make([]counts, len(tools))
		found = make([]float64, len(words)) // tools that have each word
		total float64
	)
	for i, t := range tools {
		c, other := counts{tool: t, weight: make([]float64, len(words))}, make([]float64, len(words))
		for _, field := range []struct {
			text   string
			weight float64
		}{{t.Name, nameWeight}, {t.Description, 1}} {
			for _, has := range wordsOf(field.text) {
				c.length++
				for w, word := range words {
					c.weight[w] += field.weight * likeness(has, word)
					if alike[has] != 0 && alike[has] == alike[word] {
						other[w] += field.weight * alikeWeight
					}
				}
			}
		}
		for w := range words {
			if c.weight[w] == 0 {
				c.weight[w] = other[w]
			}
			if c.weight[w] > 0 {
				found[w]++
			}
		}
		total += c.length
		all[i] = c
	}
	average := total / math.Max(float64(len(tools)), 1)
	var hits []counts
	for _, c := range all {
		for w, weight := range c.weight {
			rare := math.Log(1 + (float64(len(tools))-found[w]+0.5)/(found[w]+0.5))
			c.score += rare * weight * (saturation + 1) / (weight + saturation*(1-lengthEffect+lengthEffect*c.length/average))
		}
		if c.score > 0 {
			hits = append(hits, c)
		}
	}
	slices.SortStableFunc(hits, func(a, b counts) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return 0
	})
	out := make([]execution.Tool, len(hits))
	for i, h := range hits {
		out[i] = h.tool
	}
	return out
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
