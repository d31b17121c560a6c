package invoketest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
)

// Function runs an invocation of the suite. The request's code is a command and its argument:
//
//	echo         the input as the result
//	pid          the id of the process as the result
//	logs N       N logs "line 1" … and then the result N
//	status S     a result with status S
//	limit L      a result that ended at the limit L
//	fail C       a platform failure with the code C
//	wait         one log, then until it is cancelled
//	spin         one log, then it uses the processor forever, whatever the context says
//	deaf         one log, then it waits forever, whatever the context says
//	panic        a Go panic
//	exit N       one log, a line on stderr, then the process ends with exit status N
//	freeze       one log, then the process stops as if every thread of it were stuck
//	hog          one log, then memory is used until there is none
//	large N      a result of N bytes
//	keep N       N bytes are never given back
func Function(ctx context.Context, inv execution.Invocation, onLog func(execution.Log)) (execution.Result, error) {
	command, arg, _ := strings.Cut(inv.Request.Code, " ")
	r := &performance{inv: inv, onLog: onLog, began: time.Now()}
	switch command {
	case "echo":
		return r.result(execution.Completed, inv.Request.Input), nil
	case "pid":
		return r.result(execution.Completed, json.RawMessage(strconv.Itoa(os.Getpid()))), nil
	case "logs":
		return r.print(arg)
	case "status":
		return r.result(execution.Status(arg), nil), nil
	case "limit":
		return r.limited(arg), nil
	case "fail":
		return execution.Result{}, &execution.Error{Code: execution.Code(arg), Field: "code", Message: "as asked",
			Err: os.ErrInvalid}
	case "keep":
		n, err := strconv.Atoi(arg)
		keep(n)
		return r.result(execution.Completed, nil), err
	case "large":
		n, err := strconv.Atoi(arg)
		return r.result(execution.Completed, json.RawMessage(`"`+strings.Repeat("x", max(n-2, 0))+`"`)), err
	}
	r.log("last words")
	switch command {
	case "wait":
		<-ctx.Done()
		return r.result(execution.Cancelled, nil), nil
	case "deaf":
		select {}
	case "spin":
		for n := 0; ; n++ { // it ends with its process
			if n < 0 {
				n = 0
			}
		}
	case "panic":
		panic("as asked")
	case "exit":
		return r.exit(arg)
	case "freeze":
		freeze()
	case "hog":
		hog()
	}
	return execution.Result{}, &execution.Error{Code: execution.InvalidRequest, Field: "code",
		Message: fmt.Sprintf("%q is not a command", command)}
}

type performance struct {
	inv   execution.Invocation
	onLog func(execution.Log)
	began time.Time
	logs  []execution.Log
}

func (r *performance) log(text string) {
	l := execution.Log{Level: "log", Message: text, AtMs: float64(time.Since(r.began).Microseconds()) / 1000}
	r.logs = append(r.logs, l)
	r.onLog(l)
}

func (r *performance) result(s execution.Status, value json.RawMessage) execution.Result {
	res := execution.Result{
		ID:          r.inv.ID,
		Status:      s,
		Result:      value,
		Logs:        r.logs,
		Environment: execution.Environment{Engine: "quickjs", Policy: "standard"},
		DurationMs:  1,
	}
	for _, l := range r.logs {
		res.Output += l.Message + "\n"
	}
	return res
}

func (r *performance) limited(limit string) execution.Result {
	status, text := execution.Failed, limit+" limit reached"
	if limit == execution.LimitWall {
		status = execution.TimedOut
	}
	res := r.result(status, nil)
	res.Limit, res.Error = &limit, &text
	return res
}

func (r *performance) print(arg string) (execution.Result, error) {
	n, err := strconv.Atoi(arg)
	if err != nil {
		return execution.Result{}, err
	}
	for i := range n {
		r.log(fmt.Sprintf("line %d", i+1))
	}
	return r.result(execution.Completed, json.RawMessage(arg)), nil
}

func (r *performance) exit(arg string) (execution.Result, error) {
	n, err := strconv.Atoi(arg)
	if err != nil {
		return execution.Result{}, err
	}
	fmt.Fprintln(os.Stderr, "exit as asked")
	os.Exit(n)
	panic("unreachable")
}

// keep leaks n bytes: a goroutine holds them forever.
func keep(n int) {
	page, never := make([]byte, n), make(chan struct{})
	for i := 0; i < n; i += 4096 {
		page[i] = 1
	}
	go func() {
		<-never
		clear(page)
	}()
}

// hog uses memory as fast as it can write to it.
func hog() {
	var held [][]byte
	for {
		page := make([]byte, 16<<20)
		for i := 0; i < len(page); i += 4096 {
			page[i] = 1
		}
		held = append(held, page)
		runtime.KeepAlive(held)
	}
}
