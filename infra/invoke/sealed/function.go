package sealed

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/airlock-run/airlock/policy/audit"
)

const (
	// Variable is 1 in the environment of a process that inherits the two sockets.
	Variable = "AIRLOCK_SEALED"

	linkDescriptor   = 3
	brokerDescriptor = 4

	// maxInvocation bounds an invocation in bytes; no invoker sends more.
	maxInvocation = 256 << 20
	readBuffer    = 64 << 10
)

// Handle answers one invocation. The body is read to its end and closed if it can be; then the answer is complete. A
// non-empty kind reports a failure instead.
//
// A body with the method Ended, which reports that everything was read, saves the owner a wake-up.
type Handle func(ctx context.Context, tenant string, payload []byte) (body io.Reader, kind, message string)

type scanKey struct{}

// Scan returns the owner's scan of the sources of the invocation that ctx belongs to, or nil.
func Scan(ctx context.Context) []byte {
	scanned, _ := ctx.Value(scanKey{}).([]byte)
	return scanned
}

// A Function is the function's side of a link. It is an [audit.Appender] whose records go to the owner.
type Function struct {
	link io.ReadWriter
	in   *bufio.Reader

	mu      sync.Mutex
	records [][]byte // of the current invocation, not sent yet
}

var _ audit.Appender = (*Function)(nil)

// NewFunction returns the function's side of a link.
func NewFunction(link io.ReadWriter) *Function {
	return &Function{link: link, in: bufio.NewReaderSize(link, readBuffer)}
}

// Append sends a record to the owner together with the end of the answer. The owner stores it, or withholds the
// answer.
func (f *Function) Append(_ context.Context, r audit.Record) error {
	record, err := audit.Encode(r)
	if err != nil {
		return fmt.Errorf("encode the record %.40s: %w", r.ID, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.records = append(f.records, record)
	return nil
}

// Serve answers invocations until the owner closes the link, and then returns nil. spent, which may be nil, reports
// after an answer that the process takes no more: the answer says so, and Serve returns nil.
func (f *Function) Serve(ctx context.Context, handle Handle, spent func() bool) error {
	if err := f.write(appendMessage(nil, KindReady)); err != nil {
		return err
	}
	for {
		inv, err := f.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read an invocation: %w", err)
		}
		last, err := f.answer(ctx, inv, handle, spent)
		if err != nil || last {
			return err
		}
	}
}

func (f *Function) next() (Invocation, error) {
	kind, n, err := Head(f.in)
	if err != nil {
		return Invocation{}, err
	}
	if kind != KindInvocation || n > maxInvocation {
		return Invocation{}, ErrProtocol
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(f.in, body); err != nil {
		return Invocation{}, io.ErrUnexpectedEOF
	}
	return parseInvocation(body)
}

// answer handles one invocation and writes its answer.
func (f *Function) answer(ctx context.Context, inv Invocation, handle Handle,
	spent func() bool) (last bool, err error) {
	ctx, cancel := context.WithDeadline(ctx, inv.Deadline)
	defer cancel()
	body, kind, message := handle(context.WithValue(ctx, scanKey{}, inv.Scan), inv.Tenant, inv.Payload)
	var tail []byte
	if kind == "" {
		tail, err = f.copy(body)
	}
	if c, ok := body.(io.Closer); ok {
		err = errors.Join(err, c.Close())
	}
	if err != nil {
		return false, fmt.Errorf("send an answer: %w", err)
	}
	flag := []byte{0}
	if last = spent != nil && spent(); last {
		flag[0] = 1
	}
	f.mu.Lock()
	records := f.records
	f.records = nil
	f.mu.Unlock()
	var out []byte
	for _, record := range records {
		out = appendMessage(out, KindRecord, record)
	}
	if len(tail) > 0 {
		out = appendMessage(out, KindPart, tail)
	}
	if kind != "" {
		out = appendMessage(out, KindFailure, flag, Failure{kind, message}.body())
	} else {
		out = appendMessage(out, KindEnd, flag)
	}
	return last, f.write(out)
}

// copy writes body in parts as they arrive and returns the last one unwritten.
func (f *Function) copy(body io.Reader) (tail []byte, err error) {
	if body == nil {
		return nil, nil
	}
	live, ok := body.(interface{ Ended() bool })
	if !ok {
		return io.ReadAll(body)
	}
	buffer := make([]byte, 16<<10)
	for {
		n, err := body.Read(buffer)
		switch {
		case errors.Is(err, io.EOF):
			return buffer[:n], nil
		case err != nil:
			return nil, err
		case live.Ended():
			return buffer[:n], nil
		}
		if err := f.write(appendMessage(nil, KindPart, buffer[:n])); err != nil {
			return nil, err
		}
	}
}

func (f *Function) write(message []byte) error {
	_, err := f.link.Write(message)
	return err
}
