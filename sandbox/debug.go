package sandbox

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
	"github.com/airlock-run/airlock/sandbox/stdlib"
)

// Debug asks for more to be reported of a run. It grants nothing, and costs the run time and ticks.
type Debug struct {
	// StackTraces reports where each console call came from.
	StackTraces bool
	// Profile reports where the ticks went, as a flame profile.
	Profile bool
	// Steps reports which statements ran, by line. Columns in errors may be off by what this puts between statements.
	Steps bool
}

// DebugReport is what Debug asked for.
type DebugReport struct {
	StackTraces []LogTrace `json:"stackTraces,omitempty"`
	// Profile is a file for speedscope.app; a unit of weight is one tick.
	Profile json.RawMessage `json:"profile,omitempty"`
	Steps   []Step          `json:"steps,omitempty"`
	// StepsTruncated says that more statements ran than are reported.
	StepsTruncated bool `json:"stepsTruncated,omitempty"`
}

// LogTrace is where the console call of that index came from.
type LogTrace struct {
	Log   int    `json:"log"`
	Stack string `json:"stack"`
}

// Step is one statement that ran.
type Step struct {
	Line int     `json:"line"`
	AtMs float64 `json:"atMs"`
}

const (
	maxReported = 10_000
	maxSamples  = 1_000
	sampleDepth = 64
)

// stackText asks the library where the guest is. It is for moments at which the engine is between two instructions.
func (r *run) stackText(in *quickjs.Instance) string {
	if r.asking || r.image == nil {
		return ""
	}
	r.asking = true
	defer func() { r.asking = false }()
	v, err := in.Apply(r.image.Root(stdlib.RootStack))
	if err != nil {
		return ""
	}
	text, _ := in.Str(v, maxErrorText)
	frames, _ := r.source.Trace(text)
	return strings.TrimPrefix(frames, "\n")
}

// profile is the samples of a run. When there are too many, every other one is dropped, and only every other tick is
// looked at from then on.
type profile struct {
	frames  []profileFrame
	index   map[profileFrame]int
	samples [][]int
	stride  int64
	next    int64
}

type profileFrame struct {
	Name string `json:"name"`
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	Col  int    `json:"col,omitempty"`
}

// sample notes where the guest is, when its turn has come.
func (r *run) sample(in *quickjs.Instance) {
	p := &r.profile
	if !r.grants.Debug.Profile || !in.Interrupted() || in.Ticks() < p.next || r.asking {
		return
	}
	p.stride = max(p.stride, 1)
	p.next = in.Ticks() + p.stride
	if p.index == nil {
		p.index = map[profileFrame]int{}
	}
	lines := strings.Split(r.stackText(in), "\n")
	stack := make([]int, 0, len(lines))
	for i := len(lines) - 1; i >= 0; i-- { // from the outermost
		f, ok := frameOf(lines[i])
		if !ok {
			continue
		}
		at, known := p.index[f]
		if !known {
			at = len(p.frames)
			p.index[f] = at
			p.frames = append(p.frames, f)
		}
		stack = append(stack, at)
	}
	if len(stack) == 0 {
		return
	}
	if p.samples = append(p.samples, stack); len(p.samples) >= maxSamples {
		kept := p.samples[:0]
		for i := 0; i < len(p.samples); i += 2 {
			kept = append(kept, p.samples[i])
		}
		p.samples, p.stride = kept, p.stride*2
	}
}

// frameOf reads "    at name (file:line:column)". Samples of one function count together: its line is left out.
func frameOf(line string) (profileFrame, bool) {
	text, ok := strings.CutPrefix(strings.TrimSpace(line), "at ")
	if !ok {
		return profileFrame{}, false
	}
	f := profileFrame{Name: text}
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

// speedscope writes the samples in the format of speedscope.app (its file-format-schema.json).
func (p *profile) speedscope(ticks int64) json.RawMessage {
	weights := make([]int64, len(p.samples))
	var total int64
	for i := range weights {
		weights[i] = max(p.stride, 1)
		total += weights[i]
	}
	if p.samples == nil {
		p.samples, p.frames = [][]int{}, []profileFrame{}
	}
	text, err := json.Marshal(map[string]any{
		"$schema": "https://www.speedscope.app/file-format-schema.json", "name": "airlock", "exporter": "airlock", "activeProfileIndex": 0,
		"shared": map[string]any{"frames": p.frames},
		"profiles": []any{map[string]any{
			"type": "sampled", "name": "ticks", "unit": "none", "startValue": 0, "endValue": max(total, ticks), "samples": p.samples, "weights": weights,
		}},
	})
	if err != nil {
		return nil
	}
	return text
}

// stepOp(line) notes a statement that is about to run.
func (r *run) stepOp(_ *call, a []quickjs.Value) (quickjs.Value, error) {
	line, ok := a[0].Int()
	switch {
	case !ok || !r.grants.Debug.Steps:
	case len(r.debug.Steps) >= maxReported:
		r.debug.StepsTruncated = true
	default:
		r.debug.Steps = append(r.debug.Steps, Step{int(line), milliseconds(r.elapsed())})
	}
	return quickjs.Undefined, nil
}

// debugged is the report of a run that has ended; nil when none was asked for.
func (r *run) debugged(in *quickjs.Instance) *DebugReport {
	if r.grants.Debug == (Debug{}) {
		return nil
	}
	if r.grants.Debug.Profile && in != nil {
		r.debug.Profile = r.profile.speedscope(in.Ticks())
	}
	return &r.debug
}
