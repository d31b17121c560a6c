package sandbox_test

import (
	"testing"

	"github.com/airlock-run/airlock/sandbox"
)

// Libraries use what few programs do: V8's call sites, the matches that RegExp keeps, classes of Node as functions, and
// messages without a server. The values are those of Node.
func TestCodeOfLibraries(t *testing.T) {
	o := newOrigin(t)
	e := o.engine(t, &names{addrs: map[string][]string{"example.com": {"93.184.216.34"}}})
	grants := sandbox.Grants{Modules: []string{"*"}, Network: sandbox.Network{Mode: sandbox.NetworkPublic}}
	for _, c := range []struct{ name, code, want string }{
		{"call sites", "function sites() { const before = Error.prepareStackTrace; Error.prepareStackTrace = (_, s) => s\n" +
			"const o = {}; Error.captureStackTrace(o); const s = o.stack; Error.prepareStackTrace = before; return s }\n" +
			"function caller() { return sites() }\nconst [a, b] = caller()\n" +
			"return [a.getFunctionName(), a.getLineNumber(), b.getFunctionName(), b.getFileName(), b.getLineNumber(), " +
			"b.getColumnNumber() > 0, b.isEval(), b.isNative(), String(b.getFunction())]",
			`["sites",2,"caller","script.js",3,true,false,false,"undefined"]`},
		{"call sites under a short limit", "const before = Error.prepareStackTrace, limit = Error.stackTraceLimit, o = {}\n" +
			"Error.prepareStackTrace = (_, s) => s; Error.stackTraceLimit = 2\nfunction depth() { " +
			"return [1].map(function inner() { Error.captureStackTrace(o); return o.stack.length })[0] }\n" +
			"const n = depth(), site = o.stack[0].getFunctionName(), kept = Error.stackTraceLimit; " +
			"Error.stackTraceLimit = limit\nreturn [n, site, kept]", `[2,"inner",2]`},
		{"the third call site of code at the top", "const o = {}; Error.prepareStackTrace = (_, s) => s\n" +
			"Error.captureStackTrace(o); return [o.stack.length, typeof o.stack[2].getFileName(), o.stack[0].getLineNumber()]",
			`[3,"string",2]`},
		{"a prepared stack", "Error.prepareStackTrace = (e, s) => `${e.message} ${s.length > 0}`; " +
			"const e = new TypeError('m'); Error.captureStackTrace(e); return e.stack", `"m true"`},
		{"a stack prepared for a new error", "function callsites() { const before = Error.prepareStackTrace\n" +
			"Error.prepareStackTrace = (_, s) => s; const s = new Error().stack.slice(1)\n" +
			"Error.prepareStackTrace = before; return s }\nfunction caller() { return callsites() }\nconst [a, b] = caller()\n" +
			"return [a.getFunctionName(), a.getFileName(), a.getLineNumber(), b.getLineNumber(), typeof new Error().stack]",
			`["caller","script.js",4,5,"string"]`},
		{"a stack prepared for an error of the engine", "Error.prepareStackTrace = (e, s) => `${e.message}|${s.length}`\n" +
			"try { null.x } catch (e) { return [e.message, e.stack] }",
			`["Cannot read properties of null (reading 'x')","Cannot read properties of null (reading 'x')|1"]`},
		{"a preparation that throws, and one that was deleted", "Error.prepareStackTrace = () => { throw 1 }\n" +
			"const out = []; try { out.push(typeof new Error('a')) } catch (e) { out.push(e) }\n" +
			"delete Error.prepareStackTrace; return [out.length, new Error('b').stack.split('\\n')[0]]",
			`[1,"Error: b"]`},
		{"a prepared stack of an error with a long message", "Error.prepareStackTrace = (e, s) => s\n" +
			"const at = (n) => { const e = new Error('x'.repeat(n)); return [e.message.length, e.stack.length, " +
			"e.stack[0].getLineNumber()] }\nreturn [at(1), at(40000)]", `[[1,2,2],[40000,2,2]]`},
		{"groups of the last match", "const a = []; let s = '¨K1K¨G22G'\n" +
			"while (/¨(K|G)(\\d+)\\1/.test(s)) { a.push(RegExp.$1 + RegExp.$2); s = s.replace(/¨(K|G)\\d+\\1/, '') }\n" +
			"return [...a, RegExp.$1, RegExp.$3]", `["K1","G22","G",""]`},
		{"the text around the last match", "'ab12cd'.match(/(\\d)(\\d)/); /x/.test('y')\n" +
			"return [RegExp.lastMatch, RegExp['$&'], RegExp.leftContext, RegExp.rightContext, " +
			"RegExp.lastParen, RegExp.input]",
			`["12","12","ab","cd","2","ab12cd"]`},
		{"a match in the callback of replace", "return 'a1b2'.replace(/([a-z])(\\d)/g, () => RegExp.$2)", `"22"`},
		{"classes of zlib are functions", "const z = require('zlib'), util = require('util')\n" +
			"function Mine(o) { z.Inflate.call(this, o) }\nutil.inherits(Mine, z.Inflate)\n" +
			"const m = new Mine(), parts = []; m.on('data', (d) => parts.push(d))\n" +
			"await new Promise((r) => { m.on('end', r); m.end(z.deflateSync('text')) })\n" +
			"return [String(Buffer.concat(parts)), z.Gzip() instanceof z.Gzip, z.Gzip.name, m.bytesWritten > 0]",
			`["text",true,"Gzip",true]`},
		{"a stream composed under an aborted signal", "const { Readable, PassThrough } = require('stream')\n" +
			"const failed = new Promise((r) => process.on('uncaughtException', (e) => r(e.name)))\n" +
			"Readable.from(['a']).compose(new PassThrough(), { signal: AbortSignal.abort() }); return failed",
			`"AbortError"`},
		{"levels of zlib at a flush", "const z = require('zlib')\n" +
			"const code = (name, options, flush) => new Promise((r, no) => { const s = z[name](options).on('error', no); " +
			"s.resume().on('end', () => r('end')); s.write('a'); if (flush) s.flush(); s.end() }).catch((e) => e.code)\n" +
			"const out = []; for (const flush of [false, true]) out.push(await code('createGzip', { level: 42 }, flush), " +
			"await code('createGzip', { level: 9 }, flush), await code('createDeflate', { level: -2 }, flush), " +
			"await code('createBrotliCompress', { params: { 1: 12 } }, flush))\nreturn out",
			`["ERR_OUT_OF_RANGE","end","ERR_OUT_OF_RANGE","end","ERR_OUT_OF_RANGE","end","ERR_OUT_OF_RANGE","end"]`},
		{"a server that does not listen", "const https = require('https'); let said\n" +
			"const s = https.createServer(() => {})\n" +
			"try { s.listen(1) } catch (e) { said = e.message }\n" +
			"return [s instanceof https.Server, s.listening, s.listenerCount('request'), said, " +
			"require('http').Server().address()]",
			`[true,false,1,"https.Server.listen is not available in the sandbox: nothing can connect to it",null]`},
		{"_destroy without an error leaves none", "const s = new (require('stream').Readable)({ read() {}, " +
			"destroy(e, done) { done(null) } })\nconst seen = []\n" +
			"for (const n of ['error', 'close']) s.on(n, () => seen.push(n))\n" +
			"s.destroy(new Error('m')); await new Promise((r) => setTimeout(r)); return seen", `["close"]`},
		{"a response without a server", "const http = require('http')\n" +
			"const { Writable, pipeline, Readable } = require('stream')\n" +
			"const parts = [], s = new Writable({ write(c, e, done) { parts.push(String(c)); done() } })\n" +
			"const q = new http.IncomingMessage(s)\n" +
			"Object.assign(q, { method: 'GET', httpVersionMajor: 1, httpVersionMinor: 1 })\n" +
			"class Mine extends http.ServerResponse {}\nconst r = new Mine(q); r.assignSocket(s); r.sendDate = false\n" +
			"r.setHeader('X-A', ['1', '2']); const over = new Promise((ok) => r.on('finish', ok))\n" +
			"const early = r.writableFinished\n" +
			"await new Promise((ok, no) => pipeline(Readable.from(['ab', 'c']), r, (e) => e ? no(e) : ok())); await over\n" +
			"let late; try { r.setHeader('b', 'c') } catch (e) { late = e.code }\n" +
			"return [parts.join(''), early, r.writableFinished, late, r instanceof http.OutgoingMessage, r.getHeaders()]",
			`["HTTP/1.1 200 OK\r\nX-A: 1\r\nX-A: 2\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n` +
				`2\r\nab\r\n1\r\nc\r\n0\r\n\r\n",false,true,"ERR_HTTP_HEADERS_SENT",true,{"x-a":["1","2"]}]`},
		{"a response keeps its output until it has a socket", "const { ServerResponse } = require('http')\n" +
			"const r = new ServerResponse({ method: 'GET' }); r.sendDate = false\n" +
			"r.statusCode = 201; r.setHeader('Content-Type', 'text/plain'); r.end('abc')\n" +
			"return [r.outputData.map((o) => o.data), r.writableEnded, r.writableFinished, r.statusMessage]",
			`[["HTTP/1.1 201 Created\r\nContent-Type: text/plain\r\nConnection: keep-alive\r\n` +
				`Content-Length: 3\r\n\r\nabc",""],` +
				`true,false,"Created"]`},
		{"the binding below a zlib stream", "const z = require('zlib'), util = require('util')\n" +
			"function Mine(o) { z.Inflate.call(this, o) }\nutil.inherits(Mine, z.Inflate)\n" +
			"const d = z.deflateSync('some text'), m = new Mine({ chunkSize: 64 }), { concat } = Buffer\n" +
			"m._handle.writeSync(z.constants.Z_FINISH, d, 0, d.length, m._outBuffer, 0, 5)\n" +
			"const first = String(m._outBuffer.subarray(0, 5)), left = m._writeState[0]; Buffer.concat = (list) => list\n" +
			"const all = new z.Inflate()._processChunk(d, z.constants.Z_FINISH); Buffer.concat = concat\n" +
			"return [first, left, String(all), m._chunkSize]", `["some ",0,"some text",64]`},
		{"the strategies of zlib", "const z = require('zlib'), d = Buffer.from('aaaaaaaabcabcabcabd'.repeat(9))\n" +
			"const hex = (o) => z.deflateSync(d, o).toString('hex').slice(0, 24), c = z.constants\n" +
			"const s = z.createDeflate({ strategy: c.Z_RLE }), parts = []; s.end(d); for await (const p of s) parts.push(p)\n" +
			"return [hex({}), hex({ strategy: c.Z_RLE }), hex({ strategy: c.Z_FIXED, level: 9 }), " +
			"hex({ strategy: c.Z_HUFFMAN_ONLY }), Buffer.concat(parts).toString('hex').slice(0, 24)]",
			`["789c4b4c8480a464184a491c","78012dc1310100000c8330ad","78014b4c8480a464184a491c",` +
				`"780105c10101000008c3a0ac","78012dc1310100000c8330ad"]`},
		{"functions of Buffer are enumerable", "const o = {}; for (const k in Buffer) o[k] = Buffer[k]\n" +
			"return [typeof o.isBuffer, typeof o.concat, o.poolSize]", `["function","function",8192]`},
		{"a console of other streams", "const { Console } = require('console'), { Writable } = require('stream')\n" +
			"const out = [], to = (n) => new Writable({ write(c, e, done) { out.push(n + c); done() } })\n" +
			"const c = new Console({ stdout: to('o '), stderr: to('e ') }); c.log('a %d', 1)\n" +
			"c.group('g'); c.error({ b: 1 })\n" +
			"class Mine extends Console { log(v) { super.log('my ' + v) } }\nnew Mine(to('m ')).log('x')\n" +
			"return [out.sort(), c instanceof Console, console instanceof console.Console]",
			`[["e   { b: 1 }\n","m my x\n","o a 1\n","o g\n"],true,true]`},
		{"MIME types", "const { MIMEType } = require('util')\n" +
			"const m = new MIMEType(' text/HTML; charset=UTF-8;q=\"a b\"; charset=x')\n" +
			"m.subtype = 'plain'; m.params.set('z', ''); let bad; try { new MIMEType('x') } catch (e) { bad = e.code }\n" +
			"return [String(m), m.essence, m.params.get('charset'), m.params.has('y'), bad]",
			`["text/plain;charset=UTF-8;q=\"a b\";z=\"\"","text/plain","UTF-8",false,"ERR_INVALID_MIME_SYNTAX"]`},
		{"a WebSocket that cannot be made", "try { new WebSocket('wss://example.com') } " +
			"catch (e) { return [typeof WebSocket, WebSocket.OPEN, e.code] }",
			`["function",1,"ERR_FEATURE_UNAVAILABLE_ON_PLATFORM"]`},
		{"a script that does not run", "const { Script } = require('vm'); const s = new Script('1'); " +
			"try { s.runInThisContext() } catch (e) { return e.code }", `"ERR_FEATURE_UNAVAILABLE_ON_PLATFORM"`},
		{"a pipeline leaves what does not end by itself", "const { Duplex, Readable, pipeline } = require('stream')\n" +
			"const d = new Duplex({ autoDestroy: false, read() {}, write(c, e, done) { done() } })\n" +
			"const failed = await new Promise((r) => pipeline(Readable.from(['a']), d, r))\n" +
			"return [failed ?? null, d.destroyed]",
			`[null,false]`},
		{"reading to the end leaves a stream that does not end by itself", "const { Readable } = require('stream')\n" +
			"const s = new Readable({ autoDestroy: false, read() { this.push('a'); this.push(null) } })\n" +
			"const text = String(await s.toArray()), error = new Promise((r) => s.on('error', r))\n" +
			"s.destroy(new Error('later')); return [text, (await error).message]", `["a","later"]`},
		{"the state of streams", "const { Readable, Writable, PassThrough } = require('stream')\n" +
			"const r = Readable.from(['a']), got = [], p = new PassThrough(), state = p._writableState\n" +
			"const w = new Writable({ objectMode: true, highWaterMark: 3, write(c, e, done) { got.push(c); done() } })\n" +
			"p._writableState.objectMode = p._readableState.objectMode = true; p._writableState.sync = false; p.pipe(w)\n" +
			"const { length } = p._readableState.pipes; p.write({ a: 1 }); p.end()\n" +
			"await new Promise((f) => w.on('finish', f))\n" +
			"return [r._readableState.objectMode, w._writableState.highWaterMark, got, length, state.finished, " +
			"typeof r._writableState, p._readableState.endEmitted]", `[true,3,[{"a":1}],1,true,"undefined",true]`},
		{"leaving a stream early destroys it", "const { Readable } = require('stream')\n" +
			"const s = new Readable({ autoDestroy: false, read() { this.push('a') } })\n" +
			"for await (const c of s) break; return s.destroyed", "true"},
		{"a pipeline into a request", "const { pipeline, Readable } = require('stream')\n" +
			"return await new Promise((done, fail) => {\n" +
			"const q = require('http').request('http://example.com/h', { method: 'POST' }, (r) => {\n" +
			"let t = ''; r.on('data', (d) => t += d); r.on('end', () => done(JSON.parse(t).body)) })\n" +
			"q.on('error', fail); pipeline(Readable.from([Buffer.from('a'), Buffer.from('b')], { objectMode: false }), q, " +
			"(e) => { if (e) fail(e) }) })", `"ab"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := e.Run(t.Context(), sandbox.Script{Code: c.code}, grants)
			if err != nil {
				t.Fatal(err)
			}
			if string(r.Value) != c.want {
				t.Errorf("%s\nreturned %s (error %q), want %s", c.code, r.Value, r.Error, c.want)
			}
		})
	}
}

// Code that was evaluated ahead has the last match, too.
func TestMatchesOfLoadedCode(t *testing.T) {
	e := newEngine(t)
	s := sandbox.Script{Version: "matches", Code: "(input) => /(\\d)/.test(input) && RegExp.$1",
		Input: []byte(`"a7"`)}
	for range 2 {
		r, err := e.Run(t.Context(), s, sandbox.Grants{})
		if err != nil {
			t.Fatal(err)
		}
		if string(r.Value) != `"7"` {
			t.Errorf("returned %s (error %q, cold %q)", r.Value, r.Error, r.Cold)
		}
	}
}
