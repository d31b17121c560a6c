package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// reloadOnHangUp reads the policy file and the attached servers again at each SIGHUP until the function it gives is called.
// A file that is wrong changes nothing, and the log says why.
func reloadOnHangUp(ctx context.Context, policy *rules, attached *attachments, functions *fleet, log *slog.Logger) (stop func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for range signals {
			if !policy.named() && !attached.named() {
				log.Warn("neither AIRLOCK_POLICY_FILE nor MCP_SERVERS is set; there is nothing to read again")
				continue
			}
			wrong := policy.reload()
			if wrong != nil {
				log.Error("the policy stays as it was", "error", wrong)
			}
			if err := attached.reload(ctx); err != nil {
				log.Error("the attached servers stay as they were", "error", err)
				wrong = errors.Join(wrong, err)
			}
			functions.renew()
			if wrong == nil {
				log.Info("the settings that are files were read again; function processes are replaced as they fall idle")
			}
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
