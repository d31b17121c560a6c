package profile

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The guest names its functions, so a profile has at most so many samples, so many frames and names of so many bytes.
const (
	maxSamples = 1_000
	maxFrames  = 4_000
	maxName    = 200
)

// Profile has the samples of one run. When there are too many, every other sample is dropped, and from then on only
// every other tick is sampled. Its zero value is empty.
type Profile struct {
	frames  []frame
	index   map[frame]int
	samples [][]int
	stride  int64
	next    int64
}

type frame struct {
	Name string `json:"name"`
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	Col  int    `json:"col,omitempty"`
}

// Due reports whether a run of so many ticks is to be sampled now.
func (p *Profile) Due(ticks int64) bool { return ticks >= p.next }

// Add adds a stack, one frame a line with the innermost first, that was sampled after so many ticks.
func (p *Profile) Add(ticks int64, stack string) {
	p.stride = max(p.stride, 1)
	p.next = ticks + p.stride
	if p.index == nil {
		p.index = map[frame]int{}
	}
	lines := strings.Split(stack, "\n")
	sample := make([]int, 0, len(lines))
	for i := len(lines) - 1; i >= 0; i-- { // from the outermost
		f, ok := frameOf(lines[i])
		if !ok {
			continue
		}
		sample = append(sample, p.indexOf(f))
	}
	if len(sample) == 0 {
		return
	}
	if p.samples = append(p.samples, sample); len(p.samples) >= maxSamples {
		kept := p.samples[:0]
		for i := 0; i < len(p.samples); i += 2 {
			kept = append(kept, p.samples[i])
		}
		p.samples, p.stride = kept, p.stride*2
	}
}

// indexOf returns the index of a frame. When there are as many as there may be, all others count as one.
func (p *Profile) indexOf(f frame) int {
	f.Name, f.File = cut(f.Name), cut(f.File)
	at, known := p.index[f]
	if !known && len(p.frames) >= maxFrames {
		f = frame{Name: "(other functions)"}
		at, known = p.index[f]
	}
	if known {
		return at
	}
	f.Name, f.File = strings.Clone(f.Name), strings.Clone(f.File) // they are parts of the text of a whole stack
	at = len(p.frames)
	p.index[f] = at
	p.frames = append(p.frames, f)
	return at
}

// cut shortens a name to maxName bytes.
func cut(name string) string {
	if len(name) <= maxName {
		return name
	}
	n := maxName
	for n > 0 && !utf8.RuneStart(name[n]) {
		n--
	}
	return name[:n]
}

// frameOf reads "    at name (file:line:column)". Samples of one function count together: its line is left out.
func frameOf(line string) (frame, bool) {
	text, ok := strings.CutPrefix(strings.TrimSpace(line), "at ")
	if !ok {
		return frame{}, false
	}
	f := frame{Name: text}
	if name, place, found := strings.Cut(text, " ("); found {
		f.Name = name
		parts := strings.Split(strings.TrimSuffix(place, ")"), ":")
		if n := len(parts); n >= 3 {
			f.File = strings.Join(parts[:n-2], ":")
			f.Line, _ = strconv.Atoi(parts[n-2]) // 0 is no line
		}
	}
	return f, true
}

// Speedscope returns the samples in the format of speedscope.app (its file-format-schema.json). ticks are those of the
// whole run.
func (p *Profile) Speedscope(ticks int64) json.RawMessage {
	weights := make([]int64, len(p.samples))
	var total int64
	for i := range weights {
		weights[i] = max(p.stride, 1)
		total += weights[i]
	}
	if p.samples == nil {
		p.samples, p.frames = [][]int{}, []frame{}
	}
	text, err := json.Marshal(map[string]any{
		"$schema": "https://www.speedscope.app/file-format-schema.json", "name": "airlock", "exporter": "airlock",
		"activeProfileIndex": 0,
		"shared":             map[string]any{"frames": p.frames},
		"profiles": []any{map[string]any{
			"type": "sampled", "name": "ticks", "unit": "none", "startValue": 0, "endValue": max(total, ticks),
			"samples": p.samples, "weights": weights,
		}},
	})
	if err != nil {
		return nil
	}
	return text
}
