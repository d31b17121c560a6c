package sqstest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/airlock-run/airlock/infra/internal/testserver"
)

// A Server is a running server. Stop must be called.
type Server struct {
	// Endpoint is its URL.
	Endpoint string
	cmd      *exec.Cmd
	out      *os.File // what it prints
	ended    <-chan error
	client   *sqs.Client
	named    atomic.Int64
}

// Modules is the variable that names the folder into which npm has installed fauxqs.
const Modules = "FAUXQS_MODULES"

const script = `
import { startFauxqs } from "fauxqs";
const server = await startFauxqs({ port: 0, logger: false });
console.log(server.port);
`

// Start starts a server, or returns nil if fauxqs is not installed.
func Start() (*Server, error) {
	folder := os.Getenv(Modules)
	if folder == "" {
		return nil, nil //nolint:nilnil // not installed
	}
	cmd := exec.Command("node", "--input-type=module", "--eval", script)
	out, in, err := os.Pipe() // not a pipe of cmd: Wait closes that, and the line may be unread when the program ends
	if err != nil {
		return nil, err
	}
	cmd.Dir, cmd.Stdout, cmd.Stderr = folder, in, os.Stderr
	ended, err := testserver.Start(cmd)
	if err = errors.Join(err, in.Close()); err != nil {
		return nil, errors.Join(err, out.Close())
	}
	s := &Server{cmd: cmd, out: out, ended: ended}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		s.Stop()
		return nil, fmt.Errorf("fauxqs does not start: %w", err)
	}
	s.Endpoint = "http://127.0.0.1:" + strings.TrimSpace(line)
	s.client = sqs.New(sqs.Options{Region: "us-east-1", BaseEndpoint: aws.String(s.Endpoint),
		Credentials: credentials.NewStaticCredentialsProvider("tester", "tester-secret", "")})
	return s, nil
}

// Stop ends the server.
func (s *Server) Stop() {
	_ = s.cmd.Process.Kill() // it may have ended already
	<-s.ended
	_ = s.out.Close() // nobody reads it any more
}

// Queue creates a queue whose messages go to a dead-letter queue after so many deliveries, and returns the URLs of
// both.
func (s *Server) Queue(t testing.TB, deliveries int) (url, dead string) {
	t.Helper()
	n := s.named.Add(1)
	create := func(name string, attributes map[string]string) string {
		out, err := s.client.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: &name, Attributes: attributes})
		if err != nil {
			t.Fatal(err)
		}
		return *out.QueueUrl
	}
	dead = create(fmt.Sprintf("dead-%d", n), nil)
	policy, err := json.Marshal(map[string]string{"maxReceiveCount": strconv.Itoa(deliveries),
		"deadLetterTargetArn": fmt.Sprintf("arn:aws:sqs:us-east-1:000000000000:dead-%d", n)})
	if err != nil {
		t.Fatal(err)
	}
	return create(fmt.Sprintf("queue-%d", n), map[string]string{"RedrivePolicy": string(policy)}), dead
}

// Client returns a client of the server.
func (s *Server) Client() *sqs.Client { return s.client }
