package engines_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/airlock-run/airlock/infra/engines"
	"github.com/airlock-run/airlock/infra/lockdown"
)

// echo evaluates lines, with all powers of Node.js: it stands for an engine that its guest owns.
const echo = `const fs = require('fs'), room = Buffer.alloc(1 << 16);
const line = () => {
  let s = '';
  while (!s.endsWith('\n')) {
    const n = fs.readSync(0, room, 0, room.length, null);
    if (n === 0) process.reallyExit(0);
    s += room.latin1Slice(0, n);
  }
  return s;
};
line();
fs.writeSync(1, '{"ready":1}\n');
for (;;) {
  let r;
  try { r = eval(line()); } catch (e) { r = 'refused: ' + e; }
  fs.writeSync(1, JSON.stringify(r === undefined ? null : r) + '\n');
}`

func config(t *testing.T) engines.Config {
	t.Helper()
	if version, err := engines.Output(t.Context(), nil, "node", "--version"); err != nil || version < "v20" {
		t.Skipf("needs Node.js 20 or newer; this is %q (%v)", version, err)
	}
	return engines.Config{
		Name:    "v8",
		Command: []string{"node", "--jitless", "--single-threaded", "--v8-pool-size=1", "--no-warnings", "-e", echo},
		Program: []byte("\n"), Env: []string{"OPENSSL_CONF=/dev/null"},
	}
}

// shellEcho evaluates lines, with all functions of the JavaScriptCore shell.
const shellEcho = `readline();
print('{"ready":1}');
for (;;) {
  const s = readline();
  if (s === '') quit();
  let r;
  try { r = (0, eval)(s); } catch (e) { r = 'refused: ' + e; }
  print(JSON.stringify(r === undefined ? null : r));
}`

func shellConfig(t *testing.T) engines.Config {
	t.Helper()
	if _, err := exec.LookPath("jsc"); err != nil {
		t.Skip("needs the jsc of WebKitGTK")
	}
	return engines.Config{
		Name: "jsc",
		Command: []string{"jsc", "--useDollarVM=1", "--useJIT=0", "--useConcurrentGC=0", "--numberOfGCMarkers=1",
			"--usePollingTraps=1", "-e", shellEcho},
		Program: []byte("\n"), Env: []string{"Malloc=1", "GIGACAGE_ENABLED=0"},
	}
}

func open(t *testing.T, cfg engines.Config) *engines.Pool {
	t.Helper()
	p, err := engines.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func take(t *testing.T, p *engines.Pool) *engines.Process {
	t.Helper()
	proc, err := p.Take(t.Context(), 64<<20)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proc.Kill)
	if err := proc.Conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	return proc
}

// ask evaluates code in a process.
func ask(t *testing.T, proc *engines.Process, code string) (string, error) {
	t.Helper()
	if _, err := fmt.Fprintln(proc.Conn, code); err != nil {
		t.Fatal(err)
	}
	answer, err := bufio.NewReader(proc.Conn).ReadString('\n')
	return strings.TrimSpace(answer), err
}

// Code that controls Node.js itself reaches nothing.
func TestOwnedNodeReachesNothing(t *testing.T) {
	p := open(t, config(t))
	proc := take(t, p)
	for _, code := range []string{
		"fs.readFileSync('/etc/passwd')", "fs.readFileSync('/proc/self/environ')", "fs.readFileSync('/proc/self/mem')",
		"fs.readdirSync('/')", "fs.writeFileSync('/tmp/x', '')", "fs.statSync('/')", "fs.openSync('/dev/null')",
		"fs.accessSync('/etc')", "fs.readSync(3, Buffer.alloc(1))", "fs.readSync(9, Buffer.alloc(1))",
		"require('child_process').execSync('id')",
		"process.kill(process.ppid, 0)", "process.kill(process.pid, 0)", "process.chdir('/')", "process.setuid(1)",
		"process.dlopen({ exports: {} }, '/lib/x86_64-linux-gnu/libm.so.6')",
	} {
		if answer, err := ask(t, proc, code); err != nil || !strings.HasPrefix(answer, `"refused: `) {
			t.Errorf("%s: %s %v", code, answer, err)
		}
	}
	answer, err := ask(t, proc, "JSON.stringify(process.env)")
	if want := `"{\"OPENSSL_CONF\":\"/dev/null\"}"`; err != nil || answer != want {
		t.Errorf("the environment is %s %v", answer, err)
	}
	// Each of these may end the process and nothing else.
	for _, code := range []string{
		"new (require('worker_threads').Worker)('1', { eval: true }); fs.readFileSync('/etc/passwd').length",
		"require('net').connect(80, '127.0.0.1'); fs.readFileSync('/etc/passwd').length",
		"process.abort()", "process.reallyExit(7)", "fetch('http://127.0.0.1'); fs.readFileSync('/etc/passwd').length",
	} {
		proc := take(t, p)
		answer, err := ask(t, proc, code)
		refused := answer == "" || slices.ContainsFunc([]string{`"refused: `, "node:", "#", "---"}, func(prefix string) bool {
			return strings.HasPrefix(answer, prefix)
		})
		if err == nil && !refused {
			t.Errorf("%s: %s", code, answer)
		}
	}
	wallsStand(t, p)
}

func wallsStand(t *testing.T, p *engines.Pool) {
	t.Helper()
	for _, wall := range []lockdown.Wall{lockdown.Syscalls, lockdown.NoNewPrivs, lockdown.NoFiles, lockdown.NoSockets,
		lockdown.NoCode} {
		if !slices.Contains(p.Walls(), string(wall)) {
			t.Errorf("the wall %q is missing", wall)
		}
	}
}

// Code that controls the JavaScriptCore shell itself reaches nothing.
func TestOwnedShellReachesNothing(t *testing.T) {
	p := open(t, shellConfig(t))
	// The shell reports a file that it cannot open in a line of its own, before the error.
	for _, code := range []string{
		"readFile('/etc/passwd')", "read('/proc/self/environ')", "load('/etc/passwd')", "run('/etc/passwd')",
		"readFile('/proc/self/mem')", "openFile('/etc/passwd')", "writeFile('/tmp/airlock-shell', 'x')",
		"write('/tmp/airlock-shell', 'x')", "checkSyntax('/etc/passwd')", "createGlobalObject().readFile('/etc/passwd')",
	} {
		proc := take(t, p)
		if answer, err := ask(t, proc, code); err != nil || !strings.HasPrefix(answer, `"refused: `) &&
			!strings.HasPrefix(answer, "Could not open file") {
			t.Errorf("%s: %s %v", code, answer, err)
		}
	}
	if _, err := os.Stat("/tmp/airlock-shell"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the shell wrote a file: %v", err)
	}
	proc := take(t, p)
	const private = "$vm.createBuiltin('(function () { return @undefined; })')() === undefined"
	if answer, err := ask(t, proc, private); err != nil || answer != "true" {
		t.Errorf("the shell is not owned: %s %v", answer, err)
	}
	// Each of these may end the process and nothing else.
	for _, code := range []string{
		"$262.agent.start('1')", "quit()", "$vm.crash()", "$vm.abort()",
		"import('/etc/passwd').then(print); drainMicrotasks()",
		"$vm.triggerMemoryPressure()", "startSamplingProfiler(); 1", "mallocInALoop()",
		"setTimeout(() => print(readFile('/etc/passwd')), 1)",
	} {
		proc := take(t, p)
		if _, err := fmt.Fprintln(proc.Conn, code+"; print('refused: by nobody')"); err != nil {
			t.Fatal(err)
		}
		answer, err := bufio.NewReader(proc.Conn).ReadString('\n')
		if strings.Contains(answer, "root:") {
			t.Errorf("%s: %s %v", code, answer, err)
		}
		proc.Kill()
	}
	wallsStand(t, p)
}

// Memory is bounded, however it is used.
func TestProcessMemory(t *testing.T) {
	for name, configure := range map[string]func(*testing.T) engines.Config{"v8": config, "jsc": shellConfig} {
		t.Run(name, func(t *testing.T) {
			p := open(t, configure(t))
			for _, code := range []string{
				"let a = []; for (let i = 0;; i++) a.push(new Array(1000).fill(i))",
				"let b = []; for (;;) b.push(new Uint8Array(1 << 20).fill(1))",
				"let c = []; for (let i = 0;; i++) c.push({ ['k' + i]: 1 })",
				"let d = []; for (let i = 0;; i++) d.push(Object.create({}))",
			} {
				proc := take(t, p)
				answer, err := ask(t, proc, code)
				if err == nil && answer != "" && !strings.HasPrefix(answer, `"refused: RangeError`) {
					t.Errorf("%s: %s", code, answer)
				}
			}
		})
	}
}

// A process that is killed is gone.
func TestProcessEnds(t *testing.T) {
	p := open(t, config(t))
	proc := take(t, p)
	if _, err := fmt.Fprintln(proc.Conn, "for (;;) {}"); err != nil {
		t.Fatal(err)
	}
	proc.Kill()
	proc.Kill()
	p.Close()
	if err := syscall.Kill(proc.PID, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("a killed process: %v", err)
	}
	if _, err := proc.Conn.Read(make([]byte, 1)); err == nil {
		t.Error("its connection is open")
	}
}

// Processes share nothing, even if their template is replaced meanwhile, and close with their pool.
func TestProcessesAreFresh(t *testing.T) {
	cfg := config(t)
	cfg.RenewAfter = 50 * time.Millisecond
	p := open(t, cfg)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 10 {
				proc, err := p.Take(t.Context(), 64<<20)
				if err != nil {
					t.Error(err)
					return
				}
				fmt.Fprintln(proc.Conn, "[typeof globalThis.mark, globalThis.mark = 1][0]")
				answer, err := bufio.NewReader(proc.Conn).ReadString('\n')
				if err != nil || answer != "\"undefined\"\n" {
					t.Error(answer, err)
				}
				proc.Kill()
			}
		})
	}
	all.Wait()
	if p.Made() < 40 {
		t.Errorf("%d processes were made", p.Made())
	}
	take(t, p).Kill()
	p.Close()
	if _, err := p.Take(t.Context(), 1<<20); err == nil {
		t.Error("a closed pool gave a process")
	}
	if n := p.Live(); n != 0 {
		t.Errorf("%d processes are left", n)
	}
}

// The refusal of a program that is no engine quotes what the program printed.
func TestOpenRefuses(t *testing.T) {
	cfg := config(t)
	for name, c := range map[string]struct {
		command []string
		want    string
	}{
		"missing": {[]string{"no-such-engine"}, "no-such-engine"},
		"ends":    {[]string{"node", "-e", "console.log('who am I?')"}, "who am I?"},
		"silent":  {[]string{"node", "-e", "setTimeout(() => {}, 1e6)"}, "did not become ready"},
	} {
		// An engine that ends is refused at once, long before the timeout of its start.
		if cfg.Command, cfg.StartTimeout = c.command, time.Hour; name == "silent" {
			cfg.StartTimeout = time.Second
		}
		if _, err := engines.Open(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := open(t, config(t))
	for range 3 { // one is ready
		if _, err := p.Take(ctx, 1<<20); err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}

// Users who take processes and kill them as fast as they can, in the middle of a job, get no more processes than
// others.
func TestFloodStarvesNobody(t *testing.T) {
	p := open(t, config(t))
	const others = 8
	var flood sync.WaitGroup
	stop := make(chan struct{})
	for range others {
		flood.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				proc, err := p.Take(t.Context(), 64<<20)
				if err != nil {
					t.Error(err)
					return
				}
				fmt.Fprintln(proc.Conn, "for (;;) {}")
				proc.Kill()
			}
		})
	}
	var waits []int64 // how many processes were made meanwhile
	for range 30 {
		made := p.Made()
		proc := take(t, p)
		waits = append(waits, p.Made()-made)
		if answer, err := ask(t, proc, "6 * 7"); answer != "42" {
			t.Error(answer, err)
		}
		proc.Kill()
	}
	close(stop)
	flood.Wait()
	// Each of the others gets one process in turn. A test that is not scheduled for a while sees more of them made.
	if slices.Sort(waits); waits[len(waits)/2] > 2*(others+1) {
		t.Errorf("the processes that were made while %d others waited: %v", others, waits)
	}
	p.Close()
	if n := p.Live(); n != 0 {
		t.Errorf("%d processes are left", n)
	}
}
