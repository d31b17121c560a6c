package dynamotest_test

import (
	"io"
	"net"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/airlock-run/airlock/infra/state/dynamostate/dynamotest"
)

// A client that goes away in the middle of a request does not end the server for the others.
func TestAbortedRequest(t *testing.T) {
	s, err := dynamotest.Start()
	if err != nil {
		t.Fatal(err)
	}
	if s == nil {
		t.Skip("make test-dynamo installs dynalite")
	}
	defer s.Stop()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.Endpoint, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	// The answer to Expect shows that the server reads the body, which never comes.
	head := "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n"
	if _, err := io.WriteString(conn, head); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(conn, make([]byte, len("HTTP/1.1 100 Continue"))); err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := s.Client().ListTables(t.Context(), &dynamodb.ListTablesInput{}); err != nil {
			t.Fatal(err)
		}
	}
}
