package sandbox

import (
	"errors"

	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
	"github.com/airlock-run/airlock/sandbox/internal/source"
)

// errThrown says that the code threw; the result already has what.
var errThrown = errors.New("the code threw")

// thrown reports an exception that reached the host by itself: code that does not compile, or a library function that
// ran out of stack.
func (r *run) thrown(in *quickjs.Instance, v quickjs.Value) error {
	if r.failed {
		return errThrown
	}
	r.failed = true
	name, message, stack, err := in.Describe(v, maxErrorText)
	if err != nil {
		return err
	}
	r.result.Exception = (*Exception)(r.source.Exception(name, message, stack))
	if !r.running && name == "SyntaxError" {
		if err := r.locate(); err != nil {
			return err
		}
	}
	r.result.Error = source.OneLine((*source.Exception)(r.result.Exception))
	if in.IsStackOverflow(v) {
		r.result.Limit = LimitStack
	}
	return errThrown
}

// escaping refuses code that closes the function around it and goes on outside.
func (r *run) escaping() error {
	ex := &Exception{Name: "SyntaxError", Message: "the code closes the function that it is the body of", Line: r.source.FirstLine(), Column: 1}
	r.failed, r.result.Exception = true, ex
	if err := r.locate(); err != nil {
		return err
	}
	r.result.Error = source.OneLine((*source.Exception)(r.result.Exception))
	return errThrown
}

// locate gives the syntax error in the result its position, within the limits of the run.
func (r *run) locate() error {
	code, ex := r.source, source.Exception(*r.result.Exception)
	located, err := prepare(r, func() source.Exception {
		code.Locate(&ex)
		return ex
	})
	if err == nil {
		r.result.Exception = (*Exception)(&located)
	}
	return err
}
