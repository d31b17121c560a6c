package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// volatile are the members that differ from run to run.
var volatile = []string{
	"id", "requestId", "atMs", "durationMs", "wallMs", "cpuMs", "ticks", "memoryBytes", "queueMs", "createdAt",
	"updatedAt", "time", "movedAt",
	"hash", "prev", "writer", "seq", "seed", "instance", "location", "executionId", "createdBy",
}

// settle replaces what differs from run to run, so that the rest can be compared.
func settle(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := maps.Clone(v)
		for name, value := range v {
			if slices.Contains(volatile, name) {
				delete(out, name)
				continue
			}
			out[name] = settle(value)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = settle(v[i])
		}
		return out
	}
	return v
}

// sameJSON compares what a command printed with what the document shows. With the mark part, the command may print
// members that the document leaves out.
func (r *documentReader) sameJSON(s snippet) {
	var want, got any
	if err := json.Unmarshal([]byte(s.text), &want); err != nil {
		r.failf(s, "is not JSON: %v", err)
		return
	}
	if err := json.Unmarshal([]byte(r.printed), &got); err != nil {
		r.failf(s, "the command printed %s", r.printed)
		return
	}
	if missing := differs(settle(want), settle(got), s.marked("part"), "$"); missing != "" {
		r.failf(s, "%s; the command printed\n%s", missing, r.printed)
	}
}

// differs returns where got and want differ; with part, got may have more members.
func differs(want, got any, part bool, path string) string {
	switch want := want.(type) {
	case map[string]any:
		object, ok := got.(map[string]any)
		if !ok {
			return path + " is no object"
		}
		for name, value := range want {
			given, there := object[name]
			if !there {
				return path + "." + name + " is missing"
			}
			if d := differs(value, given, part, path+"."+name); d != "" {
				return d
			}
		}
		for name := range object {
			if _, there := want[name]; !there && !part {
				return path + "." + name + " is not shown"
			}
		}
		return ""
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) != len(want) {
			return path + " has another length"
		}
		for i := range want {
			if d := differs(want[i], list[i], part, fmt.Sprintf("%s[%d]", path, i)); d != "" {
				return d
			}
		}
		return ""
	case string:
		if text, ok := got.(string); ok && like(want, text) {
			return ""
		}
	default:
		if want == got {
			return ""
		}
	}
	return fmt.Sprintf("%s is %v, not %v", path, got, want)
}

// like compares text in which … stands for anything.
func like(want, got string) bool {
	var b strings.Builder
	for i, part := range strings.Split(want, "…") {
		if i > 0 {
			b.WriteString(`[\s\S]*`)
		}
		b.WriteString(regexp.QuoteMeta(part))
	}
	return regexp.MustCompile("^" + b.String() + "$").MatchString(got)
}

func (r *documentReader) sameText(s snippet) {
	if !like(strings.TrimSpace(s.text), strings.TrimSpace(r.printed)) {
		r.failf(s, "the command printed\n%s", r.printed)
	}
}
