package dynamotest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/airlock-run/airlock/infra/internal/testserver"
	"github.com/airlock-run/airlock/infra/state/dynamostate"
)

// A Server is a running server. Stop must be called.
type Server struct {
	// Endpoint is its URL.
	Endpoint string
	cmd      *exec.Cmd
	ended    <-chan error
	client   *dynamodb.Client
	named    atomic.Int64
}

// Modules is the variable that names the folder into which npm has installed dynalite.
const Modules = "DYNALITE_MODULES"

// survive is a module that keeps dynalite running when a client closes its connection in the middle of a request, which
// otherwise ends the process.
const survive = `data:text/javascript,process.on("uncaughtException",e=>{if(e.code!=="ECONNRESET")throw e})`

// Start starts a server, or returns nil if dynalite is not installed.
func Start() (*Server, error) {
	folder := os.Getenv(Modules)
	if folder == "" {
		return nil, nil //nolint:nilnil // not installed
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	port := l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil {
		return nil, err
	}
	s := &Server{Endpoint: "http://127.0.0.1:" + strconv.Itoa(port)}
	s.cmd = exec.Command("node", "--import", survive, filepath.Join(folder, "node_modules", "dynalite", "cli.js"),
		"--host", "127.0.0.1", "--port", strconv.Itoa(port), "--createTableMs", "0")
	s.cmd.Stderr = os.Stderr
	if s.ended, err = testserver.Start(s.cmd); err != nil {
		return nil, err
	}
	s.client = dynamodb.New(dynamodb.Options{Region: "us-east-1", BaseEndpoint: aws.String(s.Endpoint),
		Credentials: credentials.NewStaticCredentialsProvider("tester", "tester-secret", "")})
	if err := s.wait(); err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

// ForTest starts a server that ends with a test. It skips the test if dynalite is not installed.
func ForTest(t testing.TB) *Server {
	t.Helper()
	s, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	if s == nil {
		t.Skip(Modules + " is not set: make test-dynamo installs dynalite and sets it")
	}
	t.Cleanup(s.Stop)
	return s
}

func (s *Server) wait() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		_, err := s.client.ListTables(ctx, &dynamodb.ListTablesInput{})
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("dynalite does not answer: %w", errors.Join(err, ctx.Err()))
		case <-tick.C:
		}
	}
}

// Stop ends the server.
func (s *Server) Stop() {
	_ = s.cmd.Process.Kill() // it may have ended already
	<-s.ended
}

// Table creates a table and returns its name.
func (s *Server) Table(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("table-%d", s.named.Add(1))
	if _, err := s.client.CreateTable(context.Background(), dynamostate.Schema(name)); err != nil {
		t.Fatal(err)
	}
	waiter := dynamodb.NewTableExistsWaiter(s.client, func(o *dynamodb.TableExistsWaiterOptions) {
		o.MinDelay, o.MaxDelay = 10*time.Millisecond, 100*time.Millisecond
	})
	if err := waiter.Wait(context.Background(), &dynamodb.DescribeTableInput{TableName: &name}, time.Minute); err != nil {
		t.Fatal(err)
	}
	return name
}

// Client returns a client of the server.
func (s *Server) Client() *dynamodb.Client { return s.client }
