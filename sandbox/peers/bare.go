package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"path/filepath"

	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/sandbox"
)

// serveBare serves until ctx ends, and writes its port to stdout. Like server.mjs, it is the bare minimum, but with
// Airlock's sandbox: no authentication, no policy, no record, no second process. A gateway cannot be faster.
func serveBare(ctx context.Context, dir string, stdout io.Writer) error {
	engine, err := sandbox.New(ctx, sandbox.Config{CacheDir: filepath.Join(filepath.Dir(dir), "engine")})
	if err != nil {
		return err
	}
	app := fiber.New(fiber.Config{DisableStartupMessage: true})
	app.Post("/", func(c *fiber.Ctx) error {
		var body struct{ Code string }
		if err := c.BodyParser(&body); err != nil {
			return err
		}
		r, err := engine.Run(ctx, sandbox.Script{Code: body.Code}, sandbox.Grants{})
		if err != nil || !r.Completed() {
			return fmt.Errorf("%s %w", r.Error, err)
		}
		return c.JSON(fiber.Map{"status": "completed", "result": r.Value})
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	context.AfterFunc(ctx, func() { _ = app.Shutdown() }) // the process ends next
	fmt.Fprintln(stdout, l.Addr().(*net.TCPAddr).Port)
	return app.Listener(l)
}
