package localinvoke

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"

	"github.com/airlock-run/airlock/infra/invoke/replystream"
)

// runtimeAPI serves the Lambda Runtime API to the function processes of a pool.
type runtimeAPI struct{ *Pool }

// handler returns the Runtime API, https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html, under a prefix that
// only one process knows.
func (a runtimeAPI) handler() http.Handler {
	const base = "/e/{env}/2018-06-01/runtime/"
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+base+"invocation/next", a.known(a.next))
	mux.HandleFunc("POST "+base+"invocation/{id}/response", a.known(a.response))
	mux.HandleFunc("POST "+base+"invocation/{id}/error", a.known(a.failed))
	mux.HandleFunc("POST "+base+"init/error", a.known(a.initFailed))
	return mux
}

// The headers and trailers of the Runtime API.
const (
	headerRequestID = "Lambda-Runtime-Aws-Request-Id"
	headerDeadline  = "Lambda-Runtime-Deadline-Ms"
	headerARN       = "Lambda-Runtime-Invoked-Function-Arn"
	headerTenant    = "Lambda-Runtime-Aws-Tenant-Id"
	headerErrorType = "Lambda-Runtime-Function-Error-Type"
	headerErrorBody = "Lambda-Runtime-Function-Error-Body"
)

// maxFailure bounds an error report in bytes.
const maxFailure = 64 << 10

// known adds the process of a request's prefix.
func (a runtimeAPI) known(h func(http.ResponseWriter, *http.Request, *process)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		proc := a.byEnv(r.PathValue("env"))
		if proc == nil {
			http.NotFound(w, r)
			return
		}
		<-proc.launched
		h(w, r, proc)
	}
}

// next answers as soon as there is an invocation for the process.
func (a runtimeAPI) next(w http.ResponseWriter, r *http.Request, proc *process) {
	if !a.offer(proc, connOf(r.Context())) {
		refuse(w, http.StatusForbidden, "InvalidStateTransition", "the invocation before this one has no answer yet")
		return
	}
	select {
	case c := <-proc.assign:
		h := w.Header()
		h["Content-Type"] = []string{"application/json"}
		h[headerRequestID] = []string{c.id}
		h[headerDeadline] = []string{strconv.FormatInt(c.deadline.UnixMilli(), 10)}
		h[headerARN] = []string{a.arn}
		if c.tenant != "" {
			h.Set(headerTenant, c.tenant)
		}
		h["Content-Length"] = []string{strconv.Itoa(len(c.payload))}
		if _, err := w.Write(c.payload); err != nil {
			proc.kill(protocol)
		}
	case <-r.Context().Done():
		proc.kill(protocol)
	case <-proc.gone:
	}
}

// response reads the answer to an invocation, piece by piece.
func (a runtimeAPI) response(w http.ResponseWriter, r *http.Request, proc *process) {
	c := a.owed(w, r, proc)
	if c == nil {
		return
	}
	var size int64
	for room := 4 << 10; ; {
		data := make([]byte, room)
		n, err := c.read(r.Body, data)
		size += int64(n)
		switch {
		case size > a.cfg.MaxAnswer:
			proc.finish(c, a.cfg.Now())
			c.send(part{end: true, failure: &replystream.Failure{Type: replystream.TooLarge,
				Message: "the answer is larger than " + strconv.FormatInt(a.cfg.MaxAnswer, 10) + " bytes"}})
			refuse(w, http.StatusRequestEntityTooLarge, "RequestEntityTooLarge", "the answer is too large")
			return
		case errors.Is(err, io.EOF):
			proc.finish(c, a.cfg.Now())
			c.send(part{data: data[:n], end: true, failure: trailed(r.Trailer)})
			accept(w)
			return
		case err != nil:
			c.send(part{data: data[:n], end: true, broken: true})
			return
		case !c.send(part{data: data[:n]}):
			return
		case n == room:
			room = min(2*room, 256<<10)
		}
	}
}

// trailed returns the error with which a streamed answer ended, if it did.
func trailed(h http.Header) *replystream.Failure {
	kind := h.Get(headerErrorType)
	if kind == "" {
		return nil
	}
	f := &replystream.Failure{Type: kind}
	if body, err := base64.StdEncoding.DecodeString(h.Get(headerErrorBody)); err == nil {
		f.Read(body)
	}
	return f
}

// failed reads the report that an invocation failed.
func (a runtimeAPI) failed(w http.ResponseWriter, r *http.Request, proc *process) {
	c := a.owed(w, r, proc)
	if c == nil {
		return
	}
	f := &replystream.Failure{Type: r.Header.Get(headerErrorType)}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxFailure))
	if err != nil {
		c.send(part{end: true, broken: true})
		return
	}
	f.Read(body)
	proc.finish(c, a.cfg.Now())
	c.send(part{end: true, failure: f})
	accept(w)
}

// initFailed reads the report that a process cannot start.
func (a runtimeAPI) initFailed(w http.ResponseWriter, r *http.Request, proc *process) {
	f := &replystream.Failure{Type: r.Header.Get(headerErrorType)}
	if body, err := io.ReadAll(io.LimitReader(r.Body, maxFailure)); err == nil {
		f.Read(body)
	}
	if !proc.failInit(f.Type + ": " + f.Message) {
		refuse(w, http.StatusForbidden, "InvalidStateTransition", "the process has started already")
		return
	}
	accept(w)
}

// owed returns the call that a request answers. If there is none, it refuses the request and returns nil.
func (a runtimeAPI) owed(w http.ResponseWriter, r *http.Request, proc *process) *call {
	c, known := proc.claim(r.PathValue("id"))
	switch {
	case !known:
		refuse(w, http.StatusBadRequest, "InvalidRequestID", "no such invocation")
	case c == nil:
		refuse(w, http.StatusForbidden, "InvalidStateTransition", "the invocation has been answered already")
	default:
		close(c.begun)
	}
	return c
}

func accept(w http.ResponseWriter) {
	w.Header()["Content-Type"] = []string{"application/json"}
	w.WriteHeader(http.StatusAccepted)
	// A process that does not read this notices at its next request.
	_, _ = io.WriteString(w, `{"status":"OK"}`+"\n")
}

func refuse(w http.ResponseWriter, status int, kind, message string) {
	body, _ := json.Marshal(replystream.Failure{Type: kind, Message: message}) // two strings always encode
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
