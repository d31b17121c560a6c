package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

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
	fmt.Println(result.Status, result.Value)
	// Output: completed 9
}

// Code calls functions of the program. The calls travel over the stream of the execution.
func ExampleTools() {
	answered := make(chan string)
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(r.URL.Path, "/calls/") {
			answered <- string(body)
			w.WriteHeader(http.StatusNoContent)
			return
		}
		fmt.Fprint(w, "id: exec_01M7Y5YYJ3:1\nevent: call\n"+
			"data: {\"seq\":1,\"tool\":\"weather\",\"params\":{\"city\":\"Rome\"}}\n\n")
		_ = http.NewResponseController(w).Flush() // the test fails if it does not arrive
		fmt.Println("the answer:", <-answered)
		fmt.Fprint(w, "id: exec_01M7Y5YYJ3:2\nevent: complete\ndata: {\"status\":\"completed\",\"result\":42}\n\n")
	}))
	defer gateway.Close()

	c, err := client.New(client.Config{URL: gateway.URL})
	if err != nil {
		fmt.Println(err)
		return
	}
	weather := func(context.Context, json.RawMessage) (any, error) { return 21, nil }
	result, err := c.Execute(context.Background(), execution.Request{Code: `(await weather({city: "Rome"})) * 2`},
		client.Tools(client.Tool{Name: "weather", Call: weather}))
	fmt.Println(result, err)
	// Output:
	// the answer: {"value":21}
	// completed: 42 <nil>
}
