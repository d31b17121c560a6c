package pgstate_test

import (
	"bytes"
	endian "encoding/binary"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/infra/state/pgstate"
)

// message returns a message of the protocol.
func message(kind byte, content []byte) []byte {
	return append(endian.BigEndian.AppendUint32([]byte{kind}, uint32(len(content)+4)), content...)
}

// authentication returns a message about authentication.
func authentication(code uint32, content string) []byte {
	return message('R', append(endian.BigEndian.AppendUint32(nil, code), content...))
}

// pretend listens as a server that asks for a password with SCRAM. answer makes its message from the client's nonce.
func pretend(t *testing.T, answer func(nonce string) []byte) string {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				b := make([]byte, 4096)
				if _, err := conn.Read(b); err != nil {
					return
				}
				if _, err := conn.Write(authentication(10, "SCRAM-SHA-256\x00\x00")); err != nil {
					return
				}
				n, err := conn.Read(b)
				if err != nil {
					return
				}
				_, nonce, _ := bytes.Cut(b[:n], []byte("r="))
				for text := answer(string(nonce)); err == nil; {
					if _, err = conn.Write(text); bytes.HasPrefix(text, []byte("R")) {
						_, err = conn.Read(b) // it sends one answer, and waits for the client's
					}
				}
			}()
		}
	}()
	return "postgres://u:hunter2@" + l.Addr().String() + "/d?sslmode=disable"
}

// A server cannot make a gateway hash a password for a quarter of an hour, nor read without end before it has accepted
// the connection.
func TestHostileHandshakes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer func(nonce string) []byte
		says   string
	}{
		"two thousand million rounds": {func(nonce string) []byte {
			return authentication(11, "r="+nonce+"x,s=YQ==,i=2147483647")
		}, "rounds of hashing"},
		"more rounds than a number has": {func(nonce string) []byte {
			return authentication(11, "r="+nonce+"x,s=YQ==,i="+strings.Repeat("9", 1000))
		}, "rounds of hashing"},
		"notices without end": {func(string) []byte { return message('N', []byte("SNOTICE\x00\x00")) }, "failed SASL auth"},
		"a long message":      {func(string) []byte { return message('N', make([]byte, 100_000)) }, "sends too much"},
		"no length":           {func(string) []byte { return make([]byte, 100) }, "sends too much"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := pgstate.Open(t.Context(), pretend(t, c.answer), pgstate.Config{})
			if err == nil {
				_ = s.Close()
			}
			text := fmt.Sprint(err)
			if !strings.Contains(text, c.says) {
				t.Errorf("the error is %s", text)
			}
			if strings.Contains(text, "hunter2") {
				t.Error("the error has the password")
			}
		})
	}
}
