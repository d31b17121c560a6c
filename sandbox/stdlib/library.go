package stdlib

import (
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"
)

//go:embed *.js
var files embed.FS

// order is the order of evaluation. Each file builds on those before it.
var order = [...]string{
	"primordials.js", "native.js", "language.js", "date.js", "errors.js", "regexp_sets.js", "regexp_errors.js",
	"host.js", "garbage.js",
	"webidl.js", "node_errors.js",
	"inspect.js", "inspect_layout.js",
	"inspect_errors.js", "inspect_kinds.js", "inspect_table.js", "json.js", "format.js", "console.js", "result.js",
	"events.js", "performance.js", "abort.js", "timers.js", "atomics.js", "url.js", "urlpattern.js",
	"encoding.js", "clone.js",
	"streams_base.js", "streams_readable.js", "streams_default.js", "streams_byob.js", "streams_byte.js",
	"streams_writable.js", "streams_transform.js",
	"streams_pipe.js", "streams_tee.js", "streams_text.js",
	"blob.js", "formdata.js", "headers.js", "body.js", "response.js", "request.js",
	"compression.js", "inspect_platform.js", "crypto.js", "crypto_algorithms.js", "crypto_keys.js", "crypto_subtle.js",
	"intl.js", "intl_locales.js", "intl_claims.js", "intl_number.js", "intl_zones.js", "intl_date.js",
	"intl_text.js", "intl_words.js",
	"intl_values.js", "temporal_bundle.js", "temporal.js",
	"modules.js", "node_validate.js", "node_buffer.js", "node_numbers.js", "node_path.js", "node_events.js",
	"node_messages.js",
	"node_util.js", "node_arguments.js", "node_mime.js",
	"node_assert.js", "node_assert_diff.js", "node_text.js", "node_url.js",
	"node_process.js", "node_perf.js", "node_async_hooks.js", "streams_bundle.js", "node_stream.js",
	"node_stream_web.js", "node_readline.js",
	"node_crypto.js", "node_keys.js",
	"zlib_options.js", "node_zlib.js", "fs_arguments.js", "fs.js", "node_fs_async.js", "node_fs_streams.js",
	"node_test.js",
	"fetch.js", "node_http_messages.js", "node_http_server.js", "node_http.js", "node_absent.js",
	"node_v8.js",
	"tools.js", "waits.js", "start.js",
}

// File is one source file of the library.
type File struct {
	Name, Source string
}

// The functions that the library hands to the host, in the order of its last host call.
const (
	RootStart  = iota // start(fn, context, input, flags, resultLimit)
	RootFinish        // finish(happened)
	RootFire          // fire(timer)
	RootSettle        // settle(request, failed, value)
	RootStack         // stack() returns the stack as text
	RootLoad          // load(fn, names, onlyCompiled, asPackages, flags)
	RootReject        // reject(reason, promise) reports an unhandled rejection
	RootTick          // runTicks() runs the callbacks of process.nextTick
	Roots
)

// basics are the files of a guest that has only console, timers and results. Benchmarks compare the whole library
// with it.
var basics = [...]string{
	"primordials.js", "errors.js", "host.js", "webidl.js", "node_errors.js", "inspect.js", "inspect_layout.js",
	"inspect_errors.js",
	"inspect_kinds.js", "inspect_table.js", "json.js", "format.js", "console.js", "result.js", "events.js", "timers.js",
	"start.js",
}

// Library returns the files in the order of their evaluation. engineVersion, such as "0.15.1", is what
// process.versions.quickjs is.
func Library(engineVersion string) ([]File, error) {
	files, err := read(order[:])
	if err != nil {
		return nil, err
	}
	version := File{Name: "airlock:engine.js", Source: fmt.Sprintf(
		"(host, internal) => { internal.engineVersion = %q; return internal; }", engineVersion)}
	return slices.Insert(files, 1, version), nil
}

// Basics returns the files of a library of console, timers and results alone.
func Basics() ([]File, error) { return read(basics[:]) }

func read(names []string) ([]File, error) {
	out := make([]File, 0, len(names))
	buffer := make([]byte, 64<<10)
	for _, name := range names {
		source, err := text(name, buffer)
		if err != nil {
			return nil, err
		}
		out = append(out, File{Name: "airlock:" + name, Source: source})
	}
	return out, nil
}

// text returns an embedded file, which [embed.FS.ReadFile] would copy twice: every start reads all of them.
func text(name string, buffer []byte) (string, error) {
	f, err := files.Open(name)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // it does nothing
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.Grow(int(info.Size()))
	if _, err := io.CopyBuffer(&b, f, buffer); err != nil {
		return "", err
	}
	return b.String(), nil
}
