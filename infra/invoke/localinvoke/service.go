package localinvoke

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/airlock-run/airlock/infra/invoke/replystream"
)

// The limits of the Lambda service in bytes.
const (
	maxPayload       = 6<<20 + 100 // 6,291,556: of a request, and of an answer that is not streamed
	maxAsyncPayload  = 1 << 20
	headerError      = "X-Amz-Function-Error"
	headerServiceID  = "X-Amzn-Requestid"
	headerKind       = "X-Amzn-Errortype"
	headerTenantID   = "X-Amz-Tenant-Id"
	latestVersion    = "$LATEST"
	unhandled        = "Unhandled"
	typeTimedOut     = "Sandbox.Timedout"
	typeOutOfMemory  = "Runtime.OutOfMemory"
	typeExit         = "Runtime.ExitError"
	typeEventStream  = "application/vnd.amazon.eventstream"
	typeJSON         = "application/json"
	maxFunctionNames = 200 // bytes of a name or ARN
)

// service serves the part of the Lambda service API that invokes functions.
type service struct {
	*Pool
	running chan struct{} // holds an element for each synchronous call
}

// ServiceHandler serves the two operations of the Lambda API that invoke functions, for any client that speaks it:
//
//	POST /2015-03-31/functions/{name}/invocations                        Invoke
//	POST /2021-11-15/functions/{name}/response-streaming-invocations     InvokeWithResponseStream
//
// {name} is Config.FunctionName, plain or as an ARN. Signatures are not checked: the server listens on a loopback
// address. As on Lambda, a caller that hangs up does not stop the function, a function that takes longer than
// Config.MaxExecution is killed, a payload is at most 6 MiB, and calls beyond Config.Concurrency are throttled. Unlike
// Lambda, a call within it waits when every process is busy, and an asynchronous one that fails is not tried again.
func (p *Pool) ServiceHandler() http.Handler {
	mux := http.NewServeMux()
	s := service{p, make(chan struct{}, p.cfg.Concurrency)}
	mux.HandleFunc("POST /2015-03-31/functions/{name}/invocations", s.invoke)
	mux.HandleFunc("POST /2021-11-15/functions/{name}/response-streaming-invocations", s.invokeStreaming)
	return mux
}

// request reads the parts that both operations share. It answers a bad request and returns nil.
func (s service) request(w http.ResponseWriter, r *http.Request) *call {
	id, err := s.requestID()
	if err != nil {
		s.cfg.Logger.Error("cannot draw a request ID", "error", err)
		s.refuseService(w, http.StatusInternalServerError, "ServiceException", "the service failed")
		return nil
	}
	w.Header().Set(headerServiceID, id)
	if name := r.PathValue("name"); !s.named(name) {
		s.refuseService(w, http.StatusNotFound, "ResourceNotFoundException",
			"Function not found: "+name[:min(len(name), maxFunctionNames)])
		return nil
	}
	limit := int64(maxPayload)
	if r.Header.Get("X-Amz-Invocation-Type") == "Event" {
		limit = maxAsyncPayload
	}
	payload, err := io.ReadAll(io.LimitReader(r.Body, limit+1))
	switch {
	case err != nil:
		return nil // the caller has gone
	case int64(len(payload)) > limit:
		s.refuseService(w, http.StatusRequestEntityTooLarge, "RequestTooLargeException",
			fmt.Sprintf("Request must be smaller than %d bytes for the InvokeFunction operation", limit))
		return nil
	case len(bytes.TrimSpace(payload)) == 0:
		payload = []byte("{}")
	case !json.Valid(payload):
		s.refuseService(w, http.StatusBadRequest, "InvalidRequestContentException", "Could not parse request body into json")
		return nil
	}
	return newCall(id, payload, r.Header.Get(headerTenantID), time.Time{})
}

// named reports whether name, which may be an ARN with or without a version, is that of the function.
func (s service) named(name string) bool {
	if _, after, ok := strings.Cut(name, ":function:"); ok {
		name = after
	}
	name, _, _ = strings.Cut(name, ":")
	return name == s.cfg.FunctionName
}

// invoke serves Invoke.
func (s service) invoke(w http.ResponseWriter, r *http.Request) {
	c := s.request(w, r)
	if c == nil {
		return
	}
	switch kind := r.Header.Get("X-Amz-Invocation-Type"); kind {
	case "", "RequestResponse":
		s.invokeAndWait(w, r, c)
	case "Event":
		if err := s.enter(); err != nil {
			s.refuseCall(w, err)
			return
		}
		go func() {
			defer s.calls.Done()
			s.invokeLater(c)
		}()
		w.WriteHeader(http.StatusAccepted)
	case "DryRun":
		w.WriteHeader(http.StatusNoContent)
	default:
		s.refuseService(w, http.StatusBadRequest, "InvalidParameterValueException",
			"the invocation type must be RequestResponse, Event or DryRun")
	}
}

func (s service) invokeAndWait(w http.ResponseWriter, r *http.Request, c *call) {
	var out bytes.Buffer
	proc, end, err := s.serveNow(r.Context(), c, func(data []byte) {
		if out.Len() <= maxPayload {
			out.Write(data)
		}
	})
	if err != nil {
		s.refuseCall(w, err)
		return
	}
	f := end.asFailure(c, s.cfg.MaxExecution)
	if f == nil && out.Len() > maxPayload {
		f = &replystream.Failure{Type: replystream.TooLarge,
			Message: fmt.Sprintf("Response payload size exceeded maximum allowed payload size (%d bytes).", maxPayload)}
	}
	h := w.Header()
	h.Set("Content-Type", typeJSON)
	h.Set("X-Amz-Executed-Version", latestVersion)
	if r.Header.Get("X-Amz-Log-Type") == "Tail" {
		h.Set("X-Amz-Log-Result", base64.StdEncoding.EncodeToString(proc.printed.last()))
	}
	body := out.Bytes()
	if f != nil {
		h.Set(headerError, unhandled)
		body, _ = json.Marshal(f) // two strings always encode
	}
	_, _ = w.Write(body) // a caller that has gone is not told
}

// invokeLater runs an asynchronous call.
func (s service) invokeLater(c *call) {
	_, end, err := s.serve(context.Background(), c, func([]byte) {})
	if f := end.asFailure(c, s.cfg.MaxExecution); err == nil && f != nil {
		err = errors.New(f.Type + ": " + replystream.OneLine(f.Message))
	}
	if err != nil {
		s.cfg.Logger.Warn("asynchronous invocation failed", "request", c.id, "error", err)
	}
}

// serveNow runs c as serve does, for a caller who waits for the answer, within the limit of concurrency.
func (s service) serveNow(ctx context.Context, c *call, take func([]byte)) (*process, ending, error) {
	select {
	case s.running <- struct{}{}:
	default:
		return nil, ending{}, errBusy
	}
	defer func() { <-s.running }()
	return s.serve(ctx, c, take)
}

// serve runs c for a caller of the service API. If the caller hangs up, the wait for a process ends, but not the
// call.
func (s service) serve(ctx context.Context, c *call, take func([]byte)) (*process, ending, error) {
	if err := s.enter(); err != nil {
		return nil, ending{}, err
	}
	defer s.calls.Done()
	if s.cfg.Sealed != nil {
		return s.serveSealed(ctx, c, take)
	}
	return s.carry(ctx, context.WithoutCancel(ctx), c, "", take)
}

// asFailure returns an ending in the words of Lambda; nil means success.
func (e ending) asFailure(c *call, timeout time.Duration) *replystream.Failure {
	says := func(kind, text string) *replystream.Failure {
		return &replystream.Failure{Type: kind, Message: "RequestId: " + c.id + " Error: " + text}
	}
	switch {
	case e.failure != nil:
		return e.failure
	case e.crash == "":
		return nil
	case e.cause == deadline:
		return says(typeTimedOut, fmt.Sprintf("Task timed out after %.2f seconds", timeout.Seconds()))
	case e.cause == memory:
		return says(typeOutOfMemory, "Runtime exited with error: signal: killed")
	}
	return says(typeExit, "Runtime exited with error: "+e.crash)
}

// refuseCall answers a call that got no process.
func (s service) refuseCall(w http.ResponseWriter, err error) {
	if errors.Is(err, errBusy) {
		w.Header().Set("Retry-After", "1")
		s.refuseService(w, http.StatusTooManyRequests, "TooManyRequestsException", "Rate Exceeded.",
			"Reason", "ReservedFunctionConcurrentInvocationLimitExceeded")
		return
	}
	s.cfg.Logger.Warn("no function process for a call", "error", err)
	s.refuseService(w, http.StatusServiceUnavailable, "ServiceException", "no function process can take the call")
}

// refuseService answers with an error of the service, which may have more members than those of every error.
func (s service) refuseService(w http.ResponseWriter, status int, kind, message string, more ...string) {
	by := "User"
	if status >= http.StatusInternalServerError {
		by = "Service"
	}
	doc := map[string]string{"Type": by, "message": message}
	for i := 0; i+1 < len(more); i += 2 {
		doc[more[i]] = more[i+1]
	}
	body, _ := json.Marshal(doc) // strings always encode
	w.Header().Set("Content-Type", typeJSON)
	w.Header().Set(headerKind, kind)
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
