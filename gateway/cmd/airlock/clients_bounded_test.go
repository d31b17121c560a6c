package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// makers make clients. A file that uses one must be listed with the reason why it may.
var makers = map[string][]string{
	"net/http":   {"Client", "Transport", "DefaultClient", "DefaultTransport", "Get", "Head", "Post", "PostForm"},
	"net":        {"Dialer", "Dial", "DialTimeout", "DialTCP", "DialUDP", "DialIP", "DialUnix"},
	"crypto/tls": {"Dial", "DialWithDialer", "Dialer"},

	"github.com/aws/aws-sdk-go-v2/config": {"LoadDefaultConfig"},
	"github.com/redis/go-redis/v9": {"NewClient", "NewClusterClient",
		"NewUniversalClient", "NewFailoverClient", "NewRing"},
	"github.com/jackc/pgx/v5": {"Connect", "ConnectConfig",
		"ConnectWithOptions"},
	"github.com/jackc/pgx/v5/pgconn": {"Connect", "ConnectConfig",
		"ConnectWithOptions"},
	"github.com/jackc/pgx/v5/pgxpool":                                   {"New", "NewWithConfig"},
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp":   {"New", "NewClient"},
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp": {"New"},
	"github.com/MicahParks/jwkset": {"NewDefaultHTTPClient",
		"NewDefaultHTTPClientCtx", "NewHTTPClient", "NewStorageFromHTTP"},
	"github.com/MicahParks/keyfunc/v3": {"NewDefault", "NewDefaultCtx",
		"NewDefaultOverrideCtx"},
	"github.com/modelcontextprotocol/go-sdk/mcp": {"StreamableClientTransport",
		"SSEClientTransport", "CommandTransport"},
	"github.com/airlock-run/airlock/policy/outbound": {"Limits"},
}

// mayMake says which files may use a maker, and why that is safe.
var mayMake = map[string]string{
	"policy/outbound/transport.go":          "it bounds them",
	"policy/address/dial.go":                "it checks addresses",
	"policy/address/addresstest/names.go":   "a name server of tests",
	"infra/awsconfig/awsconfig.go":          "bounded by Shape and Bound",
	"gateway/wiring/limits.go":              "its connections are bounded",
	"gateway/wiring/telemetry.go":           "by CollectorClient",
	"gateway/cli/mcp.go":                    "over outbound",
	"infra/mcptools/connect.go":             "over outbound",
	"infra/state/pgstate/pool.go":           "bounded by bound",
	"infra/state/pgstate/store.go":          "bounded by bound",
	"infra/state/pgstate/pgtest/server.go":  "a server of tests",
	"infra/state/pgstate/pgtest/bouncer.go": "a server of tests",
	"infra/s3objects/s3test/server.go":      "a server of tests",
	"sandbox/peers/http.go":                 "a program that measures",
}

// TestEveryClientIsBounded: only the packages that bound clients, transports and connections make them, and every
// folder that has limits is among the clients that meet hostile servers.
func TestEveryClientIsBounded(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	folders := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		for _, made := range madeIn(t, path) {
			switch _, may := mayMake[name]; {
			case made == "outbound.Limits":
				folders[filepath.ToSlash(filepath.Dir(name))] = true
			case !may:
				t.Errorf("%s uses %s; build the client from policy/outbound", name, made)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := slices.Sorted(maps.Keys(folders)), slices.Sorted(maps.Keys(clients)); !slices.Equal(got, want) {
		t.Errorf("clients are built in %v, and meet hostile servers in %v", got, want)
	}
}

// madeIn returns the makers that a file uses: values and calls, and not the types of fields, parameters and assertions.
func madeIn(t *testing.T, path string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{} // of the imports
	for _, i := range file.Imports {
		imported, _ := strconv.Unquote(i.Path.Value)
		if makers[imported] == nil {
			continue
		}
		name := imported[strings.LastIndexByte(imported, '/')+1:]
		if strings.HasPrefix(name, "v") && len(name) == 2 {
			name = map[string]string{"github.com/redis/go-redis/v9": "redis",
				"github.com/MicahParks/keyfunc/v3": "keyfunc", "github.com/jackc/pgx/v5": "pgx"}[imported]
		}
		if i.Name != nil {
			name = i.Name.Name
		}
		names[name] = imported
	}
	var made []string
	found := func(e ast.Expr) {
		if s, ok := e.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && slices.Contains(makers[names[x.Name]], s.Sel.Name) {
				made = append(made, x.Name+"."+s.Sel.Name)
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			found(n.Type)
		case *ast.CallExpr:
			found(n.Fun)
			if len(n.Args) > 0 {
				for _, a := range n.Args { // new(http.Client), and DefaultClient handed on
					found(a)
				}
			}
		case *ast.ValueSpec:
			found(n.Type) // var c http.Client
			for _, v := range n.Values {
				found(v)
			}
		case *ast.AssignStmt:
			for _, v := range n.Rhs {
				found(v)
			}
		case *ast.KeyValueExpr:
			found(n.Value)
		case *ast.ReturnStmt:
			for _, v := range n.Results {
				found(v)
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.SelectorExpr); ok { // http.DefaultClient.Do
				found(x)
			}
		}
		return true
	})
	return made
}
