package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/airlock-run/airlock/functions/execution"
	client "github.com/airlock-run/airlock/gateway/client/go"
)

// A client calls a gateway. A guest's failure is a result with a status; the error is about the request, the caller or
// the platform.
func Example() {
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"id":"exec_01M7Y5YYJ3XCHKCAKRB5AX9BRW","status":"completed","result":9,"output":"","logs":[]}`)
	}))
	defer gateway.Close()

	c, err := client.New(client.Config{URL: gateway.URL, Token: "a token, or the API key"})
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := c.Execute(context.Background(), execution.Request{
		Code: "Math.max(...input)", Input: json.RawMessage(`[3, 9, 4]`), Policy: "strict",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Status, string(result.Result))
	// Output: completed 9
}
