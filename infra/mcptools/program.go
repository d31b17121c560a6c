package mcptools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/airlock-run/airlock/policy/toolname"
)

const (
	maxTail   = 1024             // bytes that are kept of what a program writes to its standard error
	maxWrite  = 10 * time.Second // that a program may leave its input unread
	maxOutput = 16 * maxAnswer   // bytes that a program may write in each minute
)

// A program is the process of a server that is a command.
type program struct {
	cmd     *exec.Cmd
	stdin   *os.File // the end of this process
	stdout  *os.File
	stderr  *tail
	started chan error
	ended   chan struct{}
	err     error // how it ended, once ended is closed
}

// start starts the command of a server. The process gets PATH, the variables that the server names, and its secret.
func start(server *Server, secret string) (*program, error) {
	command := words(server.Command)
	p := &program{stderr: &tail{}, started: make(chan error), ended: make(chan struct{})}
	p.cmd = exec.Command(command[0], command[1:]...)
	for _, name := range append([]string{"PATH"}, words(server.Variables)...) {
		if value, ok := os.LookupEnv(name); ok {
			p.cmd.Env = append(p.cmd.Env, name+"="+value)
		}
	}
	if secret != "" {
		p.cmd.Env = append(p.cmd.Env, server.Secret+"="+secret)
	}
	p.cmd.SysProcAttr, p.cmd.WaitDelay, p.cmd.Stderr = ownGroup(), goodbye, p.stderr
	if p.cmd.Env == nil {
		p.cmd.Env = []string{} // nil stands for all variables
	}
	if err := p.run(); err != nil {
		return nil, &unreachableError{
			fmt.Sprintf("the server of %s cannot be started: %s", server.Namespace, startProblem(err)), err,
		}
	}
	return p, nil
}

// run starts the process and waits for its end in a goroutine, on a thread of its own: the kernel ends the process when
// the thread that started it ends, and so with the gateway.
func (p *program) run() error {
	in, stdin, err := os.Pipe()
	if err != nil {
		return err
	}
	stdout, out, err := os.Pipe()
	if err != nil {
		return errors.Join(err, in.Close(), stdin.Close())
	}
	p.cmd.Stdin, p.cmd.Stdout, p.stdin, p.stdout = in, out, stdin, stdout
	go func() {
		runtime.LockOSThread()
		err := p.cmd.Start()
		_, _ = in.Close(), out.Close() // the process has its own
		p.started <- err
		if err == nil {
			p.err = p.cmd.Wait()
		}
		close(p.ended)
		runtime.UnlockOSThread()
	}()
	if err := <-p.started; err != nil {
		return errors.Join(err, stdin.Close(), stdout.Close())
	}
	return nil
}

// startProblem returns why a command did not start, in words for guests. It names no path.
func startProblem(err error) string {
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return "its command does not exist"
	case errors.Is(err, fs.ErrPermission):
		return "its command may not be executed"
	}
	return "its command failed to start"
}

// transport returns the transport over the standard input and output of the process.
func (p *program) transport(c *contents) sdk.Transport {
	waiting := newCalls()
	return &countedTransport{waiting, &sdk.IOTransport{
		Reader: newRawReader(&boundedReader{file: p.stdout}, c, waiting), Writer: promptWriter{p.stdin},
		MaxLineLength: 2 * maxDecoded, // with the empty lines before it
	}}
}

// stop ends the process and everything in its group. It asks first: by the end of its input, then by a signal.
func (p *program) stop() {
	_ = p.stdin.Close() // it may be closed
	if !p.endsWithin(goodbye) {
		signalGroup(p.cmd.Process, terminate)
		p.endsWithin(goodbye)
	}
	signalGroup(p.cmd.Process, kill)
	<-p.ended
	_ = p.stdout.Close() // it may be closed
}

// endsWithin reports whether the process ends within a time.
func (p *program) endsWithin(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-p.ended:
		return true
	case <-t.C:
		return false
	}
}

// failure returns the error of a process that ended, or that could not be spoken to because of err.
func (p *program) failure(server *Server, err error) error {
	said := fmt.Errorf("%w; its standard error ends with %q", err, p.stderr.last())
	select {
	case <-p.ended:
		how := "exit status 0"
		if p.err != nil {
			how = p.err.Error()
		}
		return &unreachableError{
			fmt.Sprintf("the server of %s cannot be reached: its command ended (%s)", server.Namespace, how), said,
		}
	default:
		return &unreachableError{err.Error(), said}
	}
}

// A tail keeps the end of what is written to it. It is safe for concurrent use.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p[max(0, len(p)-maxTail):]...)
	t.text = append([]byte(nil), t.text[max(0, len(t.text)-maxTail):]...)
	return len(p), nil
}

// last returns the last line that is not empty.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(t.text)), "\n")
	return toolname.Plain(clip(strings.ToValidUTF8(lines[len(lines)-1], "�")))
}

var errOutput = errors.New("it writes more than a server is allowed to")

// A boundedReader fails if more is written than a server may write.
type boundedReader struct {
	file  *os.File
	read  int
	since time.Time
}

// Read implements io.Reader.
func (b *boundedReader) Read(p []byte) (int, error) {
	n, err := b.file.Read(p)
	if now := time.Now(); now.Sub(b.since) > time.Minute {
		b.read, b.since = 0, now
	}
	if b.read += n; b.read > maxOutput {
		return 0, errOutput
	}
	return n, err
}

// Close implements io.Closer.
func (b *boundedReader) Close() error { return b.file.Close() }

// A promptWriter fails if a program does not read.
type promptWriter struct{ *os.File }

// Write implements io.Writer.
func (w promptWriter) Write(p []byte) (int, error) {
	if err := w.SetWriteDeadline(time.Now().Add(maxWrite)); err != nil {
		return 0, err
	}
	return w.File.Write(p)
}

// startSession starts the command of a server and opens a session with it. ctx bounds the opening only. ended is called
// when the process has ended, however that comes about.
func startSession(
	ctx context.Context, server *Server, secret string, changed func(), q *questions, contents *contents,
	ended func(error),
) (*sdk.ClientSession, error) {
	p, err := start(server, secret)
	if err != nil {
		return nil, err
	}
	session, err := newClient(changed, q).Connect(ctx, p.transport(contents), nil)
	if err != nil {
		p.endsWithin(goodbye / 10) // its end, if there is one, says more than the end of its output
		err = p.failure(server, connectError(ctx, server, err))
		p.stop()
		return nil, err
	}
	go func() {
		_ = session.Wait() // its error says less than the end of the process
		p.endsWithin(goodbye / 10)
		err := p.failure(server, fmt.Errorf("the connection to the server of %s was lost", server.Namespace))
		p.stop()
		ended(err)
	}()
	return session, nil
}
