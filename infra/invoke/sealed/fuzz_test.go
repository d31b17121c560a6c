package sealed_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/airlock-run/airlock/infra/invoke/sealed"
)

// FuzzReadRequest: any bytes from a function are an error or a request that encodes to the same bytes; no more is read
// and allocated than a request has.
func FuzzReadRequest(f *testing.F) {
	whole, err := sealed.Request{ID: 7, Verb: sealed.VerbConnect, Name: "example.com", Port: 443}.Message()
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range [][]byte{whole, whole[:5], {}, bytes.Repeat([]byte{0xff}, 64),
		append(bytes.Clone(whole), whole...)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		in := bytes.NewReader(b)
		q, err := sealed.ReadRequest(in)
		if err != nil {
			return
		}
		again, err := q.Message()
		if err != nil || !bytes.Equal(again, b[:len(b)-in.Len()]) || len(q.Name) > sealed.MaxName {
			t.Errorf("%x is %+v, which is %x (%v)", b, q, again, err)
		}
	})
}

// FuzzFunction: a function reads the invocation that was sent, and invalid bytes end it with an error and no answer.
func FuzzFunction(f *testing.F) {
	f.Add("id", "tenant", []byte("{}"), []byte{}, []byte{})
	f.Add("", "", []byte{}, []byte{}, []byte("i\x00\x00\x00\x01x"))
	f.Add("id", "", []byte("x"), []byte(`{"sum":""}`), []byte("\xff\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, id, tenant string, payload, scanned, garbage []byte) {
		if len(tenant) > 1<<15 || len(id) > 1<<15 {
			return
		}
		sent := sealed.Invocation{
			ID: id, Tenant: tenant, Deadline: time.Now().Add(time.Hour), Scan: scanned, Payload: payload,
		}
		var out bytes.Buffer
		in := io.MultiReader(bytes.NewReader(sent.Message()), bytes.NewReader(garbage))
		function := sealed.NewFunction(struct {
			io.Reader
			io.Writer
		}{in, &out})
		handled := 0
		handle := func(ctx context.Context, gotTenant string, got []byte) (io.Reader, string, string) {
			gotScan := sealed.Scan(ctx)
			if handled++; handled > 1 {
				return bytes.NewReader(got), "", ""
			}
			if gotTenant != tenant {
				t.Errorf("the tenant %q was read as %q", tenant, gotTenant)
			}
			if !bytes.Equal(got, payload) || !bytes.Equal(gotScan, scanned) {
				t.Errorf("%x and %x were read as %x and %x", payload, scanned, got, gotScan)
			}
			return bytes.NewReader(got), "", ""
		}
		err := function.Serve(t.Context(), handle, nil)
		if handled == 0 || len(garbage) == 0 && err != nil {
			t.Errorf("%d handled, then %v", handled, err)
		}
		if len(garbage) > 0 && handled == 1 && err == nil {
			t.Errorf("%x was no error", garbage)
		}
	})
}

func TestHead(t *testing.T) {
	for name, c := range map[string]struct {
		bytes []byte
		err   error
	}{
		"a head":     {binary.BigEndian.AppendUint32([]byte{'p'}, 5), nil},
		"too long":   {[]byte{'p', 0xff, 0xff, 0xff, 0xff}, sealed.ErrProtocol},
		"cut off":    {[]byte{'p', 0}, io.ErrUnexpectedEOF},
		"nothing":    {nil, io.EOF},
		"the length": {[]byte{'p', 0x80, 0, 0, 0}, sealed.ErrProtocol},
	} {
		if _, _, err := sealed.Head(bytes.NewReader(c.bytes)); !errors.Is(err, c.err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, body := range [][]byte{nil, {2}, {0xff, 1}} {
		if _, _, err := sealed.Ended(body); !errors.Is(err, sealed.ErrProtocol) {
			t.Errorf("the end %x: %v", body, err)
		}
	}
}
