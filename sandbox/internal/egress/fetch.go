package egress

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"github.com/airlock-run/airlock/policy/outbound"
	"github.com/airlock-run/airlock/sandbox/internal/hostops"
	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// chunkBytes is the most that the guest gets by one read of a body.
const chunkBytes = 64 << 10

// maxBodies bounds answers whose bodies the guest has not read to the end.
const maxBodies = 256

// Exchanges holds the requests of a run that are under way: uploads, what aborts a request, and bodies that are being
// read. IDs are the guest's own.
type Exchanges struct {
	client *Client
	memory hostops.Background
	// Later reports that the run had segments before, whose bodies are gone.
	Later bool

	mu      sync.Mutex
	uploads map[int32][]byte
	cancels map[int32]context.CancelFunc
	bodies  map[int32]io.ReadCloser
}

// exchangeRoom is what a request that is under way takes besides its body: buffers of its connection, of which the
// stream's is the largest (package outbound), and a piece of the answer.
const exchangeRoom = outbound.StreamBuffer + chunkBytes + 64<<10

// maxFetchRequest bounds the JSON of a request, whose URL and headers are bounded by maxURL and maxHeaderBytes.
const maxFetchRequest = 512 << 10

// NewExchanges returns the exchanges of one run. Close ends them.
func NewExchanges(client *Client, memory hostops.Background) *Exchanges {
	return &Exchanges{
		client: client, memory: memory, uploads: map[int32][]byte{}, cancels: map[int32]context.CancelFunc{},
		bodies: map[int32]io.ReadCloser{},
	}
}

// fetchRequest is the payload of the operation "fetch".
type fetchRequest struct {
	ID       int32       `json:"id"`
	Method   string      `json:"method"`
	URL      string      `json:"url"`
	Headers  [][2]string `json:"headers"`
	HasBody  bool        `json:"hasBody"`
	Redirect string      `json:"redirect"`
}

// fetchAnswer is the answer to the operation "fetch".
type fetchAnswer struct {
	Status     int         `json:"status"`
	StatusText string      `json:"statusText"`
	URL        string      `json:"url"`
	Redirected bool        `json:"redirected"`
	Headers    [][2]string `json:"headers"`
	HasBody    bool        `json:"hasBody"`
}

// Fetch sends a request and returns the head of the response. Its payload is a fetchRequest.
func (x *Exchanges) Fetch(ctx context.Context, payload string) (hostops.Answer, error) {
	var q fetchRequest
	if len(payload) > maxFetchRequest {
		return hostops.Answer{}, hostops.Throw("TypeError", "fetch failed: the URL and the headers are too large")
	}
	// A list of empty headers takes eight times its JSON.
	held, err := hostops.Hold(x.memory, exchangeRoom+16*int64(len(payload)))
	if err != nil {
		return hostops.Answer{}, err
	}
	defer held.Drop()
	if err := json.Unmarshal([]byte(payload), &q); err != nil {
		return hostops.Answer{}, hostops.Throw("TypeError", "fetch failed: the request is not valid")
	}
	ctx, cancel := context.WithCancel(ctx)
	body, ok := x.begin(q.ID, cancel)
	if body != nil {
		defer x.memory.ReleaseAside(uploadRoom + int64(cap(body)))
	}
	if !ok {
		cancel()
		return hostops.Answer{}, hostops.Throw("TypeError",
			fmt.Sprintf("fetch failed: more than %d answers are open; read or cancel their bodies", maxBodies))
	}
	if !q.HasBody {
		body = nil
	} else if body == nil {
		body = []byte{}
	}
	in, err := x.client.Do(ctx, Request{Method: q.Method, URL: q.URL, Header: q.Headers, Body: body, Redirect: q.Redirect})
	if err != nil || in.Body == nil {
		x.abort(q.ID)
	}
	if err != nil {
		return hostops.Answer{}, err
	}
	out := fetchAnswer{
		Status: in.Status, StatusText: in.StatusText, URL: in.URL, Redirected: in.Redirected, Headers: listHeader(in.Header),
		HasBody: in.Body != nil,
	}
	if in.Body != nil {
		x.mu.Lock()
		x.bodies[q.ID] = heldBody{in.Body, held.Keep()}
		x.mu.Unlock()
	}
	text, err := json.Marshal(out)
	return hostops.Answer{JSON: text}, err
}

// heldBody is a body that stays charged until it is closed.
type heldBody struct {
	io.ReadCloser
	held *hostops.Holding
}

func (b heldBody) Close() error {
	b.held.Drop()
	return b.ReadCloser.Close()
}

// begin takes the body that the guest has uploaded, and keeps what ends the exchange.
func (x *Exchanges) begin(id int32, cancel context.CancelFunc) (body []byte, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	body = x.uploads[id]
	delete(x.uploads, id)
	if x.cancels[id] != nil || x.bodies[id] != nil || len(x.bodies) >= maxBodies {
		return nil, false
	}
	x.cancels[id] = cancel
	return body, true
}

// listHeader returns headers in a fixed order, one value each.
func listHeader(h http.Header) [][2]string {
	out := [][2]string{}
	for name, values := range h {
		for _, v := range values {
			out = append(out, [2]string{name, v})
		}
	}
	slices.SortStableFunc(out, func(a, b [2]string) int {
		if a[0] < b[0] {
			return -1
		}
		if a[0] > b[0] {
			return 1
		}
		return 0
	})
	return out
}

// noBody returns the error of a body that is not there.
func (x *Exchanges) noBody() error {
	if x.Later {
		return hostops.Throw("TypeError", "the body of this response did not outlast a wait: read bodies before waiting")
	}
	return hostops.Throw("TypeError", "no such body")
}

// Read returns the next piece of a body, or null at its end. Its payload is the ID of the exchange.
func (x *Exchanges) Read(ctx context.Context, payload string) (hostops.Answer, error) {
	n, err := strconv.ParseInt(payload, 10, 32)
	if err != nil {
		return hostops.Answer{}, x.noBody()
	}
	id := int32(n)
	x.mu.Lock()
	body := x.bodies[id]
	x.mu.Unlock()
	if body == nil {
		return hostops.Answer{}, x.noBody()
	}
	buf := make([]byte, chunkBytes) // exchangeRoom has it
	got := 0
	for got == 0 && err == nil {
		got, err = body.Read(buf)
	}
	switch {
	case got > 0:
		return hostops.Answer{Bytes: buf[:got]}, nil
	case hostops.AsLimit(err) != nil:
		return hostops.Answer{}, hostops.AsLimit(err)
	}
	x.abort(id)
	if errors.Is(err, io.EOF) {
		return hostops.Answer{JSON: json.RawMessage("null")}, nil
	}
	return hostops.Answer{}, hostops.Throw("TypeError", "the body ended early: "+networkError(ctx, "the server", err))
}

// abort ends an exchange and drops the rest of its body.
func (x *Exchanges) abort(id int32) {
	x.mu.Lock()
	cancel, body := x.cancels[id], x.bodies[id]
	delete(x.cancels, id)
	delete(x.bodies, id)
	x.mu.Unlock()
	if cancel != nil {
		cancel()
	}
	if body != nil {
		_ = body.Close() // nothing more is wanted of it
	}
}

// Close ends all exchanges.
func (x *Exchanges) Close() {
	x.mu.Lock()
	ids := make([]int32, 0, len(x.cancels))
	for id := range x.cancels {
		ids = append(ids, id)
	}
	x.mu.Unlock()
	for _, id := range ids {
		x.abort(id)
	}
	x.client.Close()
}

// Upload answers fetch.send(id, bytes): it adds bytes to the body of a request. They stay charged until the request
// is answered or the run ends.
func (x *Exchanges) Upload(c *hostops.Call, args []quickjs.Value) (quickjs.Value, error) {
	c.Taint()
	id, ok := args[0].Int()
	if !ok {
		return quickjs.Undefined, nil
	}
	piece, err := c.View(args[1])
	if err != nil {
		return 0, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	room := x.client.MaxBytes
	for _, b := range x.uploads {
		room -= int64(len(b))
	}
	if int64(len(piece)) > room {
		return 0, x.client.TooMuch
	}
	if err := c.Work(64*len(x.uploads) + len(piece)/4); err != nil {
		return 0, err
	}
	body := x.uploads[id]
	if len(body)+len(piece) > cap(body) {
		size := max(len(body)+len(piece), cap(body)+cap(body)/2)
		if err := c.ChargeAside(uploadRoom + int64(size)); err != nil {
			return 0, err
		}
		grown := append(make([]byte, 0, size), body...)
		x.uploads[id] = grown
		if body != nil {
			c.ReleaseAside(uploadRoom + int64(cap(body)))
		}
		body = grown
	}
	x.uploads[id] = append(body, piece...)
	return quickjs.Undefined, nil
}

// uploadRoom is what an upload takes besides its bytes.
const uploadRoom = 128

// Abort answers fetch.abort(id): it ends an exchange.
func (x *Exchanges) Abort(c *hostops.Call, args []quickjs.Value) (quickjs.Value, error) {
	c.Taint()
	if id, ok := args[0].Int(); ok {
		x.abort(id)
	}
	return quickjs.Undefined, nil
}
