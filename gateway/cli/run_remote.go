package cli

import (
	"context"
	"regexp"
	"strings"

	"github.com/airlock-run/airlock/functions/execution"
	client "github.com/airlock-run/airlock/gateway/client/go"
)

// executeRemotely returns an execute that runs on a gateway and follows the guest's output. paused, which may be nil,
// is called when the execution pauses; execute then waits for its end.
func executeRemotely(c *client.Client, paused func(id string)) execute {
	run := followRemotely(c)
	if paused == nil {
		return run
	}
	return func(ctx context.Context, request execution.Request, onLog func(level, text string)) (execution.Result, error) {
		result, err := run(ctx, request, onLog)
		if err != nil || result.Status != execution.Paused {
			return result, err
		}
		paused(result.ID)
		end, err := c.WaitForEnd(ctx, result.ID)
		if onLog != nil {
			lines := wholeLines{onLog: onLog}
			lines.printed.WriteString(result.Output)
			lines.addLogs(end.Logs[min(len(result.Logs), len(end.Logs)):])
			lines.end(end.Output)
		}
		return end.Result, called(err)
	}
}

// executeStep returns an execute that runs on a gateway as the next step of a session. What the guest prints is printed
// at the end.
func executeStep(c *client.Client, session string) execute {
	return func(ctx context.Context, request execution.Request, onLog func(level, text string)) (execution.Result, error) {
		result, err := c.ExecuteStep(ctx, session, request)
		if onLog != nil {
			lines := wholeLines{onLog: onLog}
			lines.addLogs(result.Logs)
			lines.end(result.Output)
		}
		return result.Result, called(err)
	}
}

// followRemotely returns an execute that runs on a gateway and returns when the execution pauses or ends. It follows
// the output if somebody listens.
func followRemotely(c *client.Client) execute {
	return func(ctx context.Context, request execution.Request, onLog func(level, text string)) (execution.Result, error) {
		if onLog == nil {
			result, err := c.Execute(ctx, request)
			return result.Result, called(err)
		}
		lines := wholeLines{onLog: onLog}
		result, err := c.ExecuteStream(ctx, request, func(chunk client.Chunk) { lines.add(chunk.Level, chunk.Chunk) })
		lines.end(result.Output)
		return result.Result, called(err)
	}
}

// wholeLines prints what a guest on a gateway prints. The gateway cuts long lines and leaves out those beyond the limit
// of the logs, but the result has the whole text: what comes after the first such line is printed at the end.
type wholeLines struct {
	onLog   func(level, text string)
	printed strings.Builder
	held    []printedLine
}

type printedLine struct{ level, text string }

// cutMark ends a line that was cut. shortestCut is the shortest line that is taken for one, in bytes: a guest prints
// short lines with three dots to show progress, and tiers cut at 1,000 characters unless a policy file says otherwise.
const (
	cutMark     = "...\n"
	shortestCut = 100
)

// dropped matches the line that counts those that were left out.
var dropped = regexp.MustCompile(`^… \d+ more console calls are not listed`)

func (w *wholeLines) add(level, text string) {
	cut := len(text) >= shortestCut && strings.HasSuffix(text, cutMark)
	if len(w.held) > 0 || cut || dropped.MatchString(text) {
		w.held = append(w.held, printedLine{level, text})
		return
	}
	w.printed.WriteString(text)
	w.onLog(level, text)
}

func (w *wholeLines) addLogs(logs []execution.Log) {
	for _, l := range logs {
		w.add(l.Level, l.Message+"\n")
	}
}

// end prints what add has held, as output has it.
func (w *wholeLines) end(output string) {
	rest, known := strings.CutPrefix(output, w.printed.String())
	known = known && output != "" // a run that broke off has no output
	for i, line := range w.held {
		text := line.text
		if known {
			text = wholeLine(rest, text, w.held[i+1:])
			rest = rest[len(text):]
		}
		if text != "" {
			w.onLog(line.level, text)
		}
	}
	if known && rest != "" {
		w.onLog("log", rest)
	}
	w.held = nil
}

// wholeLine returns the beginning of output that line stands for, up to where the next lines begin.
func wholeLine(output, line string, next []printedLine) string {
	if strings.HasPrefix(output, line) {
		return line
	}
	begin := strings.TrimSuffix(line, cutMark)
	if !strings.HasPrefix(output, begin) {
		return ""
	}
	if len(next) > 0 {
		follows := "\n" + strings.TrimSuffix(next[0].text, cutMark)
		if n := strings.Index(output[len(begin):], follows); n >= 0 {
			return output[:len(begin)+n+1]
		}
	}
	return output
}
