package outbound

import (
	"context"
	"fmt"
	"io"
	"net/http"
)

// Get returns the body of a URL. The response must be 200 OK and have at most so many bytes. accept is the value of the
// Accept header; "" sends none. An error names the URL without its password.
func Get(ctx context.Context, client *http.Client, url, accept string, most int64) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	if accept != "" {
		request.Header.Set("Accept", accept)
	}
	answer, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s returned %s", request.URL.Redacted(), answer.Status)
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, most+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", request.URL.Redacted(), err)
	}
	if int64(len(body)) > most {
		return nil, fmt.Errorf("%s has more than %d bytes", request.URL.Redacted(), most)
	}
	return body, nil
}
