package sandbox_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/airlock-run/airlock/sandbox"
)

// echoServer is a server of a guest that answers what it was asked.
const echoServer = `const http = require('http')
const server = http.createServer((req, res) => {
  const paths = {
    '/moved': () => res.writeHead(302, { Location: '/there?x=1' }).end(),
    '/empty': () => res.writeHead(204).end(),
    '/cut': () => req.socket.destroy(),
    '/half': () => { res.write('a'); setTimeout(() => req.socket.destroy()) },
    '/pieces': () => { res.write('a'); setTimeout(() => { res.write('bc'); res.end('d') }) },
    '/silent': () => {},
  }
  if (paths[req.url]) return paths[req.url]()
  let body = ''
  req.on('data', (d) => body += d)
  req.on('end', () => {
    res.setHeader('X-A', ['1', '2']).setHeader('Set-Cookie', ['a=1', 'b=2'])
    res.end([req.method, req.url, body, req.headers['content-length'], req.headers.q].join())
  })
}).listen(0)
const base = 'http://localhost:' + server.address().port
const get = (path) => new Promise((ok, no) => http.get(base + path, async (res) => {
  try { let text = ''; for await (const c of res) text += c; ok([res.statusCode, text]) } catch (e) { no(e) }
}).on('error', no))
const code = (e) => e.cause?.code ?? e.code
`

// TestServerOfTheRun checks that a server of node:http answers requests of its own run, as Node's does over a socket.
func TestServerOfTheRun(t *testing.T) {
	e := newEngine(t)
	grants := sandbox.Grants{Modules: []string{"*"}}
	for _, c := range []struct{ name, code, want string }{
		{"fetch", "const r = await fetch(base + '/a?b', { method: 'POST', body: 'hä', headers: { q: 'v' } })\n" +
			"return [r.status, r.statusText, await r.text(), r.headers.get('x-a'), r.headers.getSetCookie(), r.redirected]",
			`[200,"OK","POST,/a?b,hä,3,v","1, 2",["a=1","b=2"],false]`},
		{"a redirect", "const r = await fetch(base + '/moved'), m = await fetch(base + '/moved', { redirect: 'manual' })\n" +
			"const e = await fetch(base + '/moved', { redirect: 'error' }).catch((e) => e.cause.message)\n" +
			"return [r.redirected, r.url === base + '/there?x=1', await r.text(), m.status, e]",
			`[true,true,"GET,/there?x=1,,,",302,"unexpected redirect"]`},
		{"no body", "const r = await fetch(base + '/empty'), h = await fetch(base + '/x', { method: 'HEAD' })\n" +
			"return [r.status, r.body, h.headers.get('x-a'), await h.text()]", `[204,null,"1, 2",""]`},
		{"pieces", "return [await (await fetch(base + '/pieces')).text(), await get('/pieces')]", `["abcd",[200,"abcd"]]`},
		{"a connection that breaks", "return [await fetch(base + '/cut').catch(code), await get('/cut').catch(code), " +
			"await get('/half').catch((e) => e.message), await (await fetch(base + '/half')).text().catch((e) => e.message)]",
			`["UND_ERR_SOCKET","ECONNRESET","aborted","aborted"]`},
		{"an abort", "const c = new AbortController()\n" +
			"const gone = new Promise((ok) => server.once('request', (q, r) => { r.on('close', ok); c.abort() }))\n" +
			"const name = await fetch(base + '/silent', { signal: c.signal }).catch((e) => e.name); await gone; return name",
			`"AbortError"`},
		{"an abort while the body is read", "const c = new AbortController(); let asked = 0\n" +
			"server.on('request', () => { asked++ })\n" +
			"const body = new ReadableStream({ pull(r) { c.abort(); r.enqueue(new Uint8Array(1)); r.close() } }, " +
			"{ highWaterMark: 0 })\n" +
			"const name = await fetch(base + '/x', { method: 'POST', body, duplex: 'half', signal: c.signal }).then(() => " +
			"'answered', (e) => e.name)\nawait fetch(base + '/y'); return [name, asked]", `["AbortError",1]`},
		{"a request", "return new Promise((ok) => { const q = http.request({ port: server.address().port, method: 'PUT', " +
			"path: '/p' }, async (r) => { let t = ''; for await (const c of r) t += c; " +
			"ok([t, r.headers['x-a'], r.headers['set-cookie'], r.rawHeaders.filter((h) => h === 'X-A').length]) })\n" +
			"q.end('xy') })", `["PUT,/p,xy,2,","1, 2",["a=1","b=2"],2]`},
		{"life", "const seen = []; for (const n of ['listening', 'close']) server.on(n, () => seen.push(n))\n" +
			"let twice; try { server.listen(1) } catch (e) { twice = e.code }\n" +
			"const taken = await new Promise((ok) => http.createServer().on('error', (e) => ok(e.code))" +
			".listen(server.address().port))\n" +
			"const pending = fetch(base + '/pieces'); server.close(); server.close((e) => seen.push(e.code))\n" +
			"await (await pending).text(); await new Promise((ok) => setTimeout(ok, 2))\n" +
			"return [twice, taken, seen, server.listening, server.address()]",
			`["ERR_SERVER_ALREADY_LISTEN","EADDRINUSE",["listening","ERR_SERVER_NOT_RUNNING","close"],false,null]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := e.Run(t.Context(), sandbox.Script{Code: "return (async () => {" + echoServer + c.code + "})()"}, grants)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(r.Value); got != c.want || r.Error != "" {
				t.Errorf("%s\n got %s (%s)\nwant %s", c.code, got, r.Error, c.want)
			}
		})
	}
}

// TestServerOfTheRunOpensNothing checks that a server of a guest neither answers others nor widens what the guest may
// reach: the ports of this machine stay closed before, while and after it listens on one of the same number.
func TestServerOfTheRunOpensNothing(t *testing.T) {
	var asked atomic.Int64
	outside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer outside.Close()
	port := netip.MustParseAddrPort(strings.TrimPrefix(outside.URL, "http://")).Port()
	e := newEngine(t)
	grants := sandbox.Grants{Modules: []string{"*"}, Network: sandbox.Network{Mode: sandbox.NetworkPublic}}
	r, err := e.Run(t.Context(), sandbox.Script{Code: "const port = " + strconv.Itoa(int(port)) + `
const http = require('http'), seen = []
const ask = async (host, p) => seen.push(await fetch('http://' + host + ':' + p).then((r) => r.text(), () => 'refused'))
await ask('127.0.0.1', port)
const server = http.createServer((q, r) => r.end('own')).listen(port)
for (const host of ['127.0.0.1', 'localhost', '[::1]']) await ask(host, port)
await ask('127.0.0.1', port + 1); await ask('10.0.0.1', port)
await new Promise((ok) => server.close(ok))
await ask('127.0.0.1', port)
return seen.join()`}, grants)
	if err != nil {
		t.Fatal(err)
	}
	const want = `"refused,own,own,own,refused,refused,refused"`
	if string(r.Value) != want {
		t.Errorf("the guest saw %s (%s), not %s", r.Value, r.Error, want)
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("the guest reached this machine %d times", n)
	}
}
