package httpconn_test

import (
	"bytes"
	"net"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/airlock-run/airlock/gateway/bounds"
	"github.com/airlock-run/airlock/gateway/httpconn"
)

// A caller sends without end: the extension of a chunk, many extensions, or a body that was refused. The gateway takes
// a few megabytes of each and closes the connection.
func TestEndlessRequests(t *testing.T) {
	t.Parallel()
	const (
		chunked = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
		refused = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n"
		most    = 64 << 20 // what is discarded, and what two kernels hold
	)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &fasthttp.Server{
		Handler:      func(*fasthttp.RequestCtx) {},
		ErrorHandler: func(ctx *fasthttp.RequestCtx, _ error) { httpconn.Linger(ctx) },
		ReadTimeout:  20 * time.Second,
	}
	served := make(chan error)
	go func() {
		served <- server.Serve(httpconn.Listener{Listener: l, Pool: bounds.NewPool(10), Request: 6 << 20})
	}()
	for name, c := range map[string]struct {
		head string
		then []byte
	}{
		"one extension":   {chunked + "1;", bytes.Repeat([]byte("a"), 64<<10)},
		"many extensions": {chunked, bytes.Repeat([]byte("1;"+string(bytes.Repeat([]byte("a"), 4000))+"\r\n \r\n"), 16)},
		"a refused body":  {refused, make([]byte, 64<<10)},
	} {
		client, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if err := client.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
			t.Fatal(err)
		}
		sent, err := client.Write([]byte(c.head))
		for err == nil && sent < 4*most {
			var n int
			n, err = client.Write(c.then)
			sent += n
		}
		if sent >= most {
			t.Errorf("%s: %d MiB were taken", name, sent>>20)
		}
		_ = client.Close() // it was reset
	}
	if err := server.Shutdown(); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// Small chunks of a body within its limit are read.
func TestSmallChunks(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	length := make(chan int, 2)
	server := &fasthttp.Server{
		Handler:     func(ctx *fasthttp.RequestCtx) { length <- len(ctx.Request.Body()) },
		ReadTimeout: 20 * time.Second,
	}
	go func() {
		_ = server.Serve(httpconn.Listener{Listener: l, Pool: bounds.NewPool(10), Request: 1 << 20})
	}()
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	const chunks = 100_000
	request := "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" +
		string(bytes.Repeat([]byte("1\r\n \r\n"), chunks)) + "0\r\n\r\n"
	for range 2 { // on one connection: the count begins anew
		if _, err := client.Write([]byte(request)); err != nil {
			t.Fatal(err)
		}
		select {
		case n := <-length:
			if n != chunks {
				t.Errorf("the body has %d bytes", n)
			}
		case <-time.After(20 * time.Second):
			t.Fatal("no request was served")
		}
	}
}
