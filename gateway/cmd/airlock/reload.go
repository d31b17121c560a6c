package main

import (
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// reloadOnHangUp reads the policy file again at each SIGHUP until the function it gives is called. A file that is wrong
// changes nothing, and the log says why.
func reloadOnHangUp(policy *rules, functions *fleet, log *slog.Logger) (stop func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for range signals {
			if err := policy.reload(); err != nil {
				log.Error("the policy stays as it was", "error", err)
				continue
			}
			functions.renew()
			log.Info("the policy was read again; function processes are replaced as they fall idle")
		}
	}()
	return func() {
		signal.Stop(signals)
		close(signals)
		<-ended
	}
}

// described says where executions run, and behind which walls, once the first process has told.
func (f *fleet) described(confined *wallWatch) string {
	if f.pool == nil {
		return f.where
	}
	return f.where + ", " + confined.first(time.Second)
}
