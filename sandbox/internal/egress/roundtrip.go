package egress

import (
	"io"
	"net/http"
)

// RoundTripper returns the network of the run as tools reach it: with the hosts that are opened for tools, and without
// redirects. An error that has the method Refused is one of the rules, in words for guests.
func (e *Client) RoundTripper() http.RoundTripper { return roundTripper{e} }

type roundTripper struct{ e *Client }

// RoundTrip implements http.RoundTripper.
func (n roundTripper) RoundTrip(r *http.Request) (*http.Response, error) {
	t, err := n.e.Rules.locate(r.URL.String(), true)
	if err != nil {
		return nil, err
	}
	var body []byte
	if r.Body != nil {
		body, err = io.ReadAll(io.LimitReader(r.Body, n.e.MaxBytes+1))
		if _ = r.Body.Close(); err != nil { // it is read, or lost
			return nil, err
		}
	}
	if err := n.e.charge(len(body)); err != nil {
		return nil, err
	}
	res, swaps, err := n.e.roundTrip(r.Context(), t, r.Method, r.Header, body)
	if err != nil {
		return nil, err
	}
	hideHeader(res.Header, swaps)
	res.Body, res.Request = &counted{newHider(res.Body, swaps), n.e}, r
	return res, nil
}

// Refused reports true: the rules refused the request, and the network did not fail.
func (e refusal) Refused() bool { return true }
