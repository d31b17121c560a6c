package cli

import (
	"slices"
	"strings"
	"testing"
)

// A gateway's lines are printed whole and in their order, with their levels, also those that it cut or left out.
func TestWholeLines(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 300)
	cut := long[:200] + cutMark
	for _, c := range []struct {
		name   string
		lines  []printedLine
		output string
		want   []printedLine
		atOnce int // how many of them before the end
	}{
		{"short", []printedLine{{"log", "a\n"}, {"warn", "b\n"}}, "a\nb\n",
			[]printedLine{{"log", "a\n"}, {"warn", "b\n"}}, 2},
		{"cut", []printedLine{{"log", "a\n"}, {"warn", cut}, {"log", "b\n"}}, "a\n" + long + "\nb\n",
			[]printedLine{{"log", "a\n"}, {"warn", long + "\n"}, {"log", "b\n"}}, 1},
		{"cut, two lines in one call", []printedLine{{"error", cut}, {"log", cut}}, long + "\n2\n" + long + "\n",
			[]printedLine{{"error", long + "\n2\n"}, {"log", long + "\n"}}, 0},
		{"short, with three dots", []printedLine{{"log", "wait...\n"}, {"warn", "… b\n"}}, "wait...\n… b\n",
			[]printedLine{{"log", "wait...\n"}, {"warn", "… b\n"}}, 2},
		{"long, with three dots", []printedLine{{"log", cut}, {"warn", "b\n"}}, cut + "b\n",
			[]printedLine{{"log", cut}, {"warn", "b\n"}}, 0},
		{"left out", []printedLine{{"log", "a\n"}, {"warn", "… 2 more console calls are not listed\n"}}, "a\nb\nc\n",
			[]printedLine{{"log", "a\n"}, {"log", "b\nc\n"}}, 1},
		{"no output", []printedLine{{"log", "a\n"}, {"log", cut}}, "", []printedLine{{"log", "a\n"}, {"log", cut}}, 1},
		{"no output, the first line cut", []printedLine{{"log", cut}, {"warn", "b\n"}}, "",
			[]printedLine{{"log", cut}, {"warn", "b\n"}}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var got []printedLine
			w := wholeLines{onLog: func(level, text string) { got = append(got, printedLine{level, text}) }}
			for _, l := range c.lines {
				w.add(l.level, l.text)
			}
			if len(got) != c.atOnce {
				t.Errorf("printed %q before the end, want %d lines", got, c.atOnce)
			}
			w.end(c.output)
			if !slices.Equal(got, c.want) {
				t.Errorf("printed %q, want %q", got, c.want)
			}
		})
	}
}
