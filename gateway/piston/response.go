package piston

import (
	"fmt"
	"strings"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
)

// A response is the body of a response to POST /api/v2/execute. Compile is the removal of types; it is set for
// TypeScript only. Run is absent if the types cannot be removed.
type response struct {
	Compile  *stage `json:"compile,omitempty"`
	Run      *stage `json:"run,omitempty"`
	Language string `json:"language"`
	Version  string `json:"version"`
}

// A stage is what a program did. Signal is set if a limit ended it, and Code otherwise.
type stage struct {
	Signal *string `json:"signal"`
	Stdout string  `json:"stdout"`
	Stderr string  `json:"stderr"`
	Code   *int    `json:"code"`
	Output string  `json:"output"`
	Memory int64   `json:"memory"`
	// Message and Status say why the program did not exit with 0, in the words of Piston's sandbox.
	Message  *string `json:"message"`
	Status   *string `json:"status"`
	CPUTime  float64 `json:"cpu_time"`
	WallTime float64 `json:"wall_time"`
}

// responseOf returns the response for a result.
func responseOf(of runtime, r execution.Result) response {
	out, run := response{Language: of.Language, Version: of.Version}, stageOf(r)
	out.Run = &run
	if of.Language != "typescript" {
		return out
	}
	if notCompiled(r) {
		out.Compile, out.Run = &run, nil
		return out
	}
	out.Compile = &stage{Code: new(int)}
	return out
}

// notCompiled reports whether code was not run because it cannot be parsed.
func notCompiled(r execution.Result) bool {
	return r.Exception != nil && r.Exception.Name == "SyntaxError" && r.Usage.MemoryBytes == 0
}

func errorOf(r execution.Result) string {
	if r.Error == nil {
		return string(r.Status)
	}
	return *r.Error
}

// stageOf returns the run stage of a result.
func stageOf(r execution.Result) stage {
	s := stage{Output: r.Output, Memory: r.Usage.MemoryBytes, CPUTime: r.Usage.CPUMs, WallTime: r.Usage.WallMs}
	var stdout, stderr strings.Builder
	for _, text := range api.ConsoleOf(r) {
		if text.Error {
			stderr.WriteString(text.Text)
		} else {
			stdout.WriteString(text.Text)
		}
	}
	s.Stdout, s.Stderr = stdout.String(), stderr.String()
	if r.Exception != nil {
		s.fail(strings.TrimPrefix(r.Exception.Name+": "+r.Exception.Message, ": ") + "\n" + r.Exception.Stack)
	}
	switch limit := r.Limit; {
	case r.Status == execution.Completed:
		s.exit(r.ExitCode & 255)
	case limit == nil:
		s.exit(exitCode(r))
	case *limit == execution.LimitWall, *limit == execution.LimitCPU:
		s.kill("TO", "Time limit exceeded")
	case *limit == execution.LimitOutput:
		s.kill("OL", "stdout length exceeded")
	case *limit == execution.LimitMemory:
		s.kill("SG", "Caught fatal signal 9")
	default:
		if r.Exception == nil {
			s.fail(errorOf(r))
		}
		s.exit(1)
	}
	return s
}

// exitCode returns the code with which a program has ended that no limit ended.
func exitCode(r execution.Result) int {
	if r.Exception == nil && r.ExitCode != 0 {
		return r.ExitCode & 255
	}
	return 1
}

func (s *stage) exit(code int) {
	s.Code = &code
	if code != 0 {
		status, message := "RE", fmt.Sprintf("Exited with error status %d", code)
		s.Status, s.Message = &status, &message
	}
}

func (s *stage) kill(status, message string) {
	signal := "SIGKILL"
	s.Signal, s.Status, s.Message = &signal, &status, &message
}

// fail prints what ended a program.
func (s *stage) fail(text string) {
	text = strings.TrimSuffix(text, "\n") + "\n"
	s.Stderr, s.Output = s.Stderr+text, s.Output+text
}
