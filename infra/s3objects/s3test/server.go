package s3test

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/airlock-run/airlock/infra/internal/testserver"
	"github.com/airlock-run/airlock/infra/s3objects"
)

const program = "versitygw-v1.8.0"

// Environment returns variables that make the AWS SDK use the server's credentials and ignore those of this machine.
func Environment() []string {
	return []string{
		"AWS_ACCESS_KEY_ID=" + accessKey, "AWS_SECRET_ACCESS_KEY=" + secretKey, "AWS_REGION=us-east-1",
		"AWS_EC2_METADATA_DISABLED=true", "AWS_CONFIG_FILE=" + os.DevNull, "AWS_SHARED_CREDENTIALS_FILE=" + os.DevNull,
	}
}

const accessKey, secretKey = "tester", "tester-secret"

// A Server is a running server. Stop must be called.
type Server struct {
	// Endpoint is its URL.
	Endpoint string
	// HTTP is the client for a server that speaks TLS, or nil.
	HTTP *http.Client
	stop func()
}

// Stop ends the server and removes what it stored.
func (s *Server) Stop() { s.stop() }

// MustStart starts a server for a test program, and exits if that fails.
func MustStart() *Server {
	s, err := Start()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return s
}

// SetEnvironment sets the variables of Environment in this process.
func SetEnvironment() {
	for _, pair := range Environment() {
		name, value, _ := strings.Cut(pair, "=")
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
}

// Start builds the server once for all test runs, starts it, and returns when it answers.
func Start() (*Server, error) { return start(nil) }

// StartTLS starts a server as Start does. It speaks TLS, as AWS does: clients then sign no hash of what they send.
func StartTLS() (*Server, error) {
	pair := httptest.NewTLSServer(nil) // for its certificate and its client
	defer pair.Close()
	return start(pair)
}

// start starts a server with the certificate of pair, if that is not nil.
func start(pair *httptest.Server) (*Server, error) {
	path, err := build()
	if err != nil {
		return nil, fmt.Errorf("build the S3 server: %w", err)
	}
	root, err := os.MkdirTemp("", "s3test")
	if err != nil {
		return nil, err
	}
	for _, dir := range []string{"data", "versions"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o755); err != nil {
			return nil, err
		}
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := free.Addr().String()
	if err := free.Close(); err != nil {
		return nil, err
	}
	s := &Server{Endpoint: "http://" + address}
	args := []string{"--port", address, "--access", accessKey, "--secret", secretKey, "--quiet"}
	if pair != nil {
		files, err := certificate(root, pair)
		if err != nil {
			return nil, errors.Join(err, os.RemoveAll(root))
		}
		args, s.Endpoint, s.HTTP = append(args, files...), "https://"+address, pair.Client()
	}
	cmd := exec.Command(path, append(args,
		"posix", "--versioning-dir", filepath.Join(root, "versions"), filepath.Join(root, "data"))...)
	cmd.Stderr = os.Stderr
	ended, err := testserver.Start(cmd)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(root))
	}
	s.stop = func() {
		_ = cmd.Process.Kill() // it may have ended already
		<-ended
		_ = os.RemoveAll(root) // a folder that remains does not affect other tests
	}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if conn, err := net.Dial("tcp", address); err == nil {
			return s, conn.Close()
		}
		select {
		case err := <-ended:
			return nil, fmt.Errorf("the S3 server ended: %w", err)
		case <-tick.C:
		}
	}
}

// certificate writes the certificate of a test server into a folder and returns the arguments that name it.
func certificate(folder string, pair *httptest.Server) (args []string, err error) {
	key, err := x509.MarshalPKCS8PrivateKey(pair.TLS.Certificates[0].PrivateKey)
	if err != nil {
		return nil, err
	}
	for name, block := range map[string]pem.Block{
		"cert": {Type: "CERTIFICATE", Bytes: pair.Certificate().Raw}, "key": {Type: "PRIVATE KEY", Bytes: key},
	} {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&block), 0o600); err != nil {
			return nil, err
		}
		args = append(args, "--"+name, path)
	}
	return args, nil
}

// build returns the path of the server program.
func build() (path string, err error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "airlock-test-tools")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", err
	}
	path = filepath.Join(dir, program)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	module, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", err
	}
	cmd := exec.Command("go", "build", "-o", path+".new", "github.com/versity/versitygw/cmd/versitygw")
	cmd.Dir = filepath.Join(filepath.Dir(string(bytes.TrimSpace(module))), "infra", "internal", "tools")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return path, os.Rename(path+".new", path)
}

// Client returns a client of the server.
func (s *Server) Client(t testing.TB) *s3.Client {
	t.Helper()
	cfg, err := config.LoadDefaultConfig(t.Context(), config.WithRegion("us-east-1"),
		config.WithCredentialsProvider(aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: accessKey, SecretAccessKey: secretKey}, nil
		})))
	if err != nil {
		t.Fatal(err)
	}
	return s3.NewFromConfig(cfg, func(o *s3.Options) {
		o.BaseEndpoint, o.UsePathStyle = aws.String(s.Endpoint), true
		if s.HTTP != nil {
			o.HTTPClient = s.HTTP
		}
	})
}

// Access returns the access to the server.
func (s *Server) Access() s3objects.Access {
	a := s3objects.Access{Endpoint: s.Endpoint}
	if s.HTTP != nil {
		a.HTTP = s.HTTP
	}
	return a
}

var buckets atomic.Int64

// Bucket creates a bucket, changed by with, and returns its name.
func (s *Server) Bucket(t testing.TB, with ...func(*s3.CreateBucketInput)) string {
	t.Helper()
	name := fmt.Sprintf("test-%d-%d", os.Getpid(), buckets.Add(1))
	in := &s3.CreateBucketInput{Bucket: &name}
	for _, change := range with {
		change(in)
	}
	if _, err := s.Client(t).CreateBucket(context.WithoutCancel(t.Context()), in); err != nil {
		t.Fatal(err)
	}
	return name
}
