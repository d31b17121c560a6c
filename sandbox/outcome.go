package sandbox

import (
	"context"
	"errors"
	"fmt"

	"github.com/airlock-run/airlock/policy/depth"
	"github.com/airlock-run/airlock/sandbox/internal/hostops"
	"github.com/airlock-run/airlock/sandbox/internal/journal"
	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
	"github.com/airlock-run/airlock/sandbox/internal/source"
)

var (
	// errThrown ends a run whose result already has the exception.
	errThrown = errors.New("the code threw")
	// errNeverSettles ends a run whose promise nothing can settle.
	errNeverSettles = errors.New("the promise returned by the code never settles")
	// errCrashed ends a run that has broken QuickJS, errEngineEnded one whose other engine has ended.
	errCrashed     = errors.New("the engine crashed on this code")
	errEngineEnded = errors.New("the engine ended on this code: it ran out of memory or of stack, or crashed")
)

// exited ends a run whose code has called process.exit.
type exited struct {
	code  int32
	value []byte
}

func (e *exited) Error() string { return fmt.Sprintf("the code called process.exit(%d)", e.code) }

// classify puts the end of a run into its result, or returns err if it is the platform's fault.
func (r *run) classify(err error) error {
	var exit *exited
	switch {
	case err == nil:
		return nil
	case hostops.AsLimit(err) != nil:
		limit := hostops.AsLimit(err)
		r.result.Limit, r.result.Error, r.result.Exception, r.result.Value = Limit(limit.Limit), limit.Message, nil, nil
	case errors.As(err, &exit) && r.stage.failed: // by a listener of the exit; the first error is the one that counts
	case errors.As(err, &exit):
		if path := depth.Over(exit.value, "result", r.limits.Depth); path != "" {
			return r.classify(r.failDeep("the result", path))
		}
		r.result.ExitCode = int(exit.code)
		if r.result.Value = exit.value; exit.code != 0 {
			r.result.Error = exit.Error()
		}
	case errors.Is(err, errNeverSettles), errors.Is(err, errEngineEnded), errors.Is(err, journal.ErrDiverged):
		r.result.Error, r.result.Value = err.Error(), nil
	case r.ctx.Err() != nil && errors.Is(err, r.ctx.Err()):
		r.result.Error, r.result.Cancelled = "cancelled", true
		if errors.Is(err, context.DeadlineExceeded) {
			l := r.limits.exceeded(LimitWall)
			r.result.Limit, r.result.Error, r.result.Cancelled = LimitWall, l.Message, false
		}
	case errors.Is(err, errThrown):
	case quickjs.IsCallStackExhausted(err):
		r.result.Limit, r.result.Error = LimitStack, "stack limit exceeded"
	case quickjs.IsTrap(err):
		r.result.Error = errCrashed.Error()
	default:
		return err
	}
	return nil
}

// throw puts an exception into the result.
func (r *run) throw(ex *source.Exception) {
	r.result.Exception, r.result.Error = (*Exception)(ex), source.OneLine(ex)
}

// fail keeps the first failure that the library reports.
func (r *run) fail(in hostops.Guest, a quickjs.Args) {
	if r.stage.failed {
		return
	}
	r.stage.failed = true
	name, _ := in.Str(a[1], maxErrorText)
	message, _ := in.Str(a[2], maxErrorText)
	stack, _ := in.Str(a[3], maxErrorText)
	r.throw(r.source.Exception(name, message, stack))
	if overflow, ok := in.(interface{ IsStackOverflow(v quickjs.Value) bool }); ok && overflow.IsStackOverflow(a[4]) {
		r.result.Limit = LimitStack
	}
}

// maxPath bounds a path that the guest names, in characters.
const maxPath = 100

// failDeep fails the code with a value that nests too deeply to cross.
func (r *run) failDeep(what, path string) error {
	if !r.stage.failed {
		r.stage.failed = true
		r.throw(&source.Exception{Name: "RangeError", Message: depth.Message(what, path, r.limits.Depth)})
	}
	return errThrown
}

// pending fails the code with the exception that is pending in the guest: of code that does not compile, or of a
// library function that ran out of stack.
func (g *guest) pending() error {
	v, err := g.in.Exception()
	if err != nil {
		return err
	}
	return g.thrown(v)
}

// thrown completes the result with v, which ended the run.
func (g *guest) thrown(v quickjs.Value) error {
	if g.stage.failed {
		return errThrown
	}
	g.stage.failed = true
	name, message, stack, err := g.in.Describe(v, maxErrorText)
	if err != nil {
		return err
	}
	ex := g.source.Exception(name, message, stack)
	g.throw(ex)
	if !g.stage.compiled && name == "SyntaxError" {
		if err := g.locate(ex); err != nil {
			return err
		}
	}
	if g.in.IsStackOverflow(v) {
		g.result.Limit = LimitStack
	}
	return errThrown
}

// escaping fails code that closes the function that the host put around it and continues outside.
func (r *run) escaping() error {
	return r.malformed("SyntaxError", "the code closes the function that it is the body of")
}

// malformed fails code that does not compile.
func (r *run) malformed(name, message string) error {
	r.stage.failed = true
	ex := &source.Exception{Name: name, Message: message, Line: r.source.FirstLine(), Column: 1}
	r.throw(ex)
	if err := r.locate(ex); err != nil {
		return err
	}
	return errThrown
}

// locate sets the position of a syntax error, within the limits of the run.
func (r *run) locate(ex *source.Exception) error {
	code, located := r.source, *ex
	found, err := prepare(r, func() source.Exception {
		code.Locate(&located)
		return located
	})
	if err == nil {
		r.throw(&found)
	}
	return err
}
