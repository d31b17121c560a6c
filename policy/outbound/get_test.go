package outbound_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/policy/outbound"
)

func TestGet(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/accept":
			_, _ = w.Write([]byte(strings.Join(r.Header.Values("Accept"), ",")))
		case "/ten":
			_, _ = w.Write([]byte("0123456789"))
		case "/cut":
			w.Header().Set("Content-Length", "9")
			_, _ = w.Write([]byte("short"))
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	secret := strings.Replace(server.URL, "http://", "http://user:hunter2@", 1)
	client := outbound.Limits{Body: 100, Total: time.Minute}.Client(outbound.Options{})
	for _, c := range []struct {
		name, url, accept string
		most              int64
		want, wrong       string
	}{
		{"as long as allowed", server.URL + "/ten", "", 10, "0123456789", ""},
		{"one byte too long", server.URL + "/ten", "", 9, "", "has more than 9 bytes"},
		{"header", server.URL + "/accept", "a/b", 10, "a/b", ""},
		{"no header", server.URL + "/accept", "", 10, "", ""},
		{"not found", secret + "/none", "", 10, "", "returned 404 Not Found"},
		{"cut short", secret + "/cut", "", 10, "", "unexpected EOF"},
		{"no URL", "http://[", "", 10, "", "missing ']'"},
	} {
		t.Run(c.name, func(t *testing.T) {
			body, err := outbound.Get(t.Context(), client, c.url, c.accept, c.most)
			if string(body) != c.want {
				t.Errorf("body %q; want %q", body, c.want)
			}
			if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("error %v; want %q", err, c.wrong)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error has the password: %v", err)
			}
		})
	}
}
