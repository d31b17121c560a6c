package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// publishedClients are clients of other services that work with a gateway, by the program that calls one with them.
var publishedClients = map[string]string{
	"e2b.mjs": "@e2b/code-interpreter", "piston.mjs": "piston-api-client",
}

// Clients of other services, as they are published, run code on a gateway. make clients installs them.
func TestPublishedClients(t *testing.T) {
	t.Parallel()
	modules := os.Getenv("CLIENT_MODULES")
	if modules == "" {
		t.Skip("CLIENT_MODULES names no folder with the clients; make clients installs them")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal(err)
	}
	for program, client := range publishedClients {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			if _, err := os.Stat(filepath.Join(modules, client)); err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			text, err := os.ReadFile(filepath.Join(repository, "gateway/client/published", program))
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, program), text, 0o600)
			}
			if err == nil {
				err = os.Symlink(modules, filepath.Join(dir, "node_modules"))
			}
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, node, program)
			cmd.Dir, cmd.Env = dir, clientGateway(t)
			if client == "piston-api-client" { // it sends no credential
				cmd.Env = append(os.Environ(), "AIRLOCK_URL="+start(t).url)
			}
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
