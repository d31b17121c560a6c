package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxZip bounds the zip of the function, which a cold start must fetch and unpack: the program, of which two builds of
// the engine are a part, and the compiled engine with its image.
const maxZip = 17_000_000

// maxZipWithPackages bounds the zip of a function with packages: more than that, Lambda takes from S3 alone.
const maxZipWithPackages = 50_000_000

// packer builds zips. Its log gets one line for each.
type packer struct {
	out   string
	use   string
	twice bool
	colds int
	// packages is a folder of npm packages to put into the zips of the function; "" puts none there.
	packages string
	log      io.Writer
}

// pack builds and checks every architecture's zips.
func (p packer) pack(ctx context.Context, names []string) error {
	targets, err := targetsNamed(names)
	if err != nil {
		return err
	}
	if p.use != "" && !slices.Contains(names, p.use) {
		return fmt.Errorf("-use %s: is not among -arch %s", p.use, strings.Join(names, ","))
	}
	if err := os.MkdirAll(p.out, 0o755); err != nil {
		return err
	}
	sums := map[string][]byte{}
	for _, t := range targets {
		if err := p.packOne(ctx, t, sums); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	return p.writeSums(sums)
}

func (p packer) packOne(ctx context.Context, t target, sums map[string][]byte) error {
	made, err := p.make(ctx, t)
	if err != nil {
		return err
	}
	if p.twice {
		again, err := p.make(ctx, t)
		if err != nil {
			return err
		}
		for name := range made {
			if !bytes.Equal(made[name], again[name]) {
				return fmt.Errorf("%s came out different the second time", name)
			}
		}
		fmt.Fprintf(p.log, "%-8s the same bytes twice\n", t.name)
	}
	for _, name := range []string{"function", "gateway"} {
		data := made[name]
		file := fmt.Sprintf("airlock-%s-%s.zip", name, t.name)
		if most := p.maxFunction(); name == "function" && len(data) > most {
			return fmt.Errorf("%s has %d bytes, more than %d", file, len(data), most)
		}
		if err := os.WriteFile(filepath.Join(p.out, file), data, 0o644); err != nil {
			return err
		}
		if t.name == p.use {
			if err := os.WriteFile(filepath.Join(p.out, name+".zip"), data, 0o644); err != nil {
				return err
			}
		}
		sum := sha256.Sum256(data)
		sums[file] = sum[:]
		fmt.Fprintf(p.log, "%-8s %s %d bytes\n", t.name, file, len(data))
	}
	result, err := check(ctx, t, made["function"])
	if err != nil {
		return fmt.Errorf("check the packaged function: %w", err)
	}
	fmt.Fprintf(p.log, "%-8s checked: function %s\n", t.name, result)
	if result, err = checkGateway(ctx, t, made["gateway"]); err != nil {
		return fmt.Errorf("check the packaged gateway: %w", err)
	}
	fmt.Fprintf(p.log, "%-8s checked: gateway %s\n", t.name, result)
	if p.colds > 0 && !t.emulated() {
		return cold(ctx, t, made["function"], p.colds, p.log)
	}
	return nil
}

// make returns one architecture's zips by name.
func (p packer) make(ctx context.Context, t target) (zips map[string][]byte, err error) {
	work, err := os.MkdirTemp("", "airlock-pack-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	bootstrap, airlock := filepath.Join(work, "bootstrap"), filepath.Join(work, "airlock")
	if err := t.build(ctx, "./functions/lambda", bootstrap, ""); err != nil {
		return nil, err
	}
	if err := t.build(ctx, "./gateway/cmd/airlock", airlock, ""); err != nil {
		return nil, err
	}
	cache := filepath.Join(work, "cache")
	if err := fill(ctx, t, bootstrap, cache); err != nil {
		return nil, fmt.Errorf("fill the compilation cache: %w", err)
	}
	trees := []string{cache}
	if p.packages != "" {
		packages, err := p.addPackages(ctx, t, bootstrap, cache)
		if err != nil {
			return nil, fmt.Errorf("add the packages: %w", err)
		}
		trees = append(trees, packages)
	}
	function, err := archive([]entry{{name: "bootstrap", from: bootstrap, program: true}}, trees...)
	if err != nil {
		return nil, err
	}
	gateway, err := archive([]entry{
		{name: "airlock", from: airlock, program: true},
		{name: "bootstrap", data: []byte("#!/bin/sh\nexec \"${LAMBDA_TASK_ROOT:-.}/airlock\" serve\n"), program: true},
	})
	if err != nil {
		return nil, err
	}
	return map[string][]byte{"function": function, "gateway": gateway}, nil
}

// writeSums writes the list for sha256sum -c.
func (p packer) writeSums(sums map[string][]byte) error {
	var lines []string
	for file, sum := range sums {
		lines = append(lines, fmt.Sprintf("%x  %s\n", sum, file))
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[66:], b[66:]) })
	return os.WriteFile(filepath.Join(p.out, "SHA256SUMS"), []byte(strings.Join(lines, "")), 0o644)
}
