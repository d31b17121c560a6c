package sandbox_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/sandbox"
)

// exposed returns an engine whose guests can call host operations themselves.
func exposed(t testing.TB, now func() time.Time, entropy io.Reader) *sandbox.Engine {
	t.Helper()
	e, err := sandbox.NewExposed(t.Context(),
		sandbox.Config{CacheDir: filepath.Join(os.TempDir(), "airlock-test-cache")}, now, entropy)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return e
}

// allGrants returns grants that include every operation.
func allGrants(answer sandbox.ToolFunc) sandbox.Grants {
	return sandbox.Grants{
		Eval: true, Modules: []string{"*"}, Files: sandbox.FilesWrite,
		Network: sandbox.Network{Mode: sandbox.NetworkPublic,
			Secrets: []sandbox.Secret{{Name: "K", Value: "hidden", Hosts: []string{"example.com"}}}},
		Tools: []sandbox.Tool{{
			Name: "t:call", Call: answer,
			InputSchema: json.RawMessage(
				`{"type":["object","array"],"items":{"anyOf":[{"type":"object"},{"uniqueItems":true}]}}`),
		}},
		Debug: sandbox.Debug{Steps: true},
		Waits: sandbox.Waits{MaxPending: 4},
	}
}

// material are keys for operations that parse keys: ordinary and hostile ones.
func material(t testing.TB) map[string]json.RawMessage {
	t.Helper()
	encoded := map[string]string{}
	add := func(name string, der []byte, err error) {
		if err != nil {
			t.Fatal(err)
		}
		encoded[name] = base64.StdEncoding.EncodeToString(der)
	}
	keep := func(name string, private, public any) {
		der, err := x509.MarshalPKCS8PrivateKey(private)
		add(name, der, err)
		der, err = x509.MarshalPKIXPublicKey(public)
		add(name+"Public", der, err)
	}
	ec, err := ecdsa.GenerateKey(elliptic.P521(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	keep("ec", ec, &ec.PublicKey)
	public, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	keep("ed", ed, public)
	large := largeKey()
	keep("rsa", large, &large.PublicKey)
	// Keys that claim to be more than they are: the standard library would compute with these numbers for seconds.
	odd := func(bits uint) *big.Int { return new(big.Int).SetBit(new(big.Int).Lsh(big.NewInt(1), bits-1), 0, 1) }
	for name, k := range map[string][3]*big.Int{"giant": {odd(40_000), odd(20_000), odd(20_000)},
		"lopsided": {odd(4094), odd(4094), big.NewInt(3)}} {
		n, one := new(big.Int).Mul(k[1], k[2]), big.NewInt(1)
		numbers, err := asn1.Marshal(struct {
			Version                      int
			N                            *big.Int
			E                            int
			D, P, Q, Dp, Dq, Coefficient *big.Int
		}{0, n, 65537, k[0], k[1], k[2], one, one, one})
		if err != nil {
			t.Fatal(err)
		}
		der, err := asn1.Marshal(struct {
			Version   int
			Algorithm pkix.AlgorithmIdentifier
			Key       []byte
		}{
			0, pkix.AlgorithmIdentifier{Algorithm: asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 1},
				Parameters: asn1.NullRawValue}, numbers,
		})
		add(name, der, err)
		encoded[name+"N"] = base64.RawURLEncoding.EncodeToString(n.Bytes())
		encoded[name+"P"] = base64.RawURLEncoding.EncodeToString(k[1].Bytes())
	}
	text, err := json.Marshal(encoded)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]json.RawMessage{"keys": text}
}

// largeKey returns a fixed RSA key of 4,096 bits: its primes are the first after 6 * 2^2045 and 7 * 2^2045.
func largeKey() *rsa.PrivateKey {
	after := func(n, more int64) *big.Int {
		x := new(big.Int).Lsh(big.NewInt(n), 2045)
		return x.Add(x, big.NewInt(more))
	}
	p, q, one := after(6, 439), after(7, 263), big.NewInt(1)
	totient := new(big.Int).Mul(new(big.Int).Sub(p, one), new(big.Int).Sub(q, one))
	return &rsa.PrivateKey{
		PublicKey: rsa.PublicKey{N: new(big.Int).Mul(p, q), E: 65537},
		D:         new(big.Int).ModInverse(big.NewInt(65537), totient), Primes: []*big.Int{p, q},
	}
}

// prelude makes buffers and strings of n bytes or units, quickly. The loop in noise has no block, because recording
// the steps of a run takes about 5 µs for each statement in a block.
const prelude = `
const M = 1 << 20, FULL = 16 * M;
const cycle = (n, ...bytes) => { const u = new Uint8Array(n); u.set(bytes.slice(0, n));
  for (let k = bytes.length; k < n; k *= 2) u.copyWithin(k, 0, Math.min(k, n - k)); return u.buffer; };
const buf = (n) => cycle(n, 7);
const noise = (n, of = 256) => { const b = []; let x = 12345;
  for (let i = 0; i < 8191; i++) b.push(((x = (x * 1103515245 + 12345) & 0x7fffffff) >> 16) % of);
  return cycle(n, ...b); };
const str = (n, s = 'a') => n < 4096 ? s.repeat(Math.ceil(n / s.length)).slice(0, n) :
  s.repeat(1024).repeat(Math.floor(n / s.length / 1024)) + s.repeat(Math.floor(n / s.length) % 1024);
const bytesOf = (s) => $sync('utf8.encode', s);
const key = (name) => $sync('buffer.decode', 'base64', keys[name]);
const list = (n, s) => '[' + str(n - 2, s).slice(0, -1) + ']';
const zipped = (format, b) => $sync('zlib', format, 9, 1 << 30, b);
`

// hostArguments has lists of arguments as JavaScript for each operation: ordinary ones first, then the most costly
// known ones. The test fails for an operation without arguments, so add the most costly ones with each new operation.
var hostArguments = map[string][]string{
	"random":      {"16", "65536", "1e9"},
	"timeOrigin":  {""},
	"wait.check":  {"'sleep', '3 days'", "str(FULL), str(FULL)", "'sleep', str(256, '1h')", "'sleep', str(256, '9')"},
	"utf8.encode": {"'é'", "str(FULL)", "str(FULL / 2, '日')", "str(FULL / 2, '\\ud800')"},
	"text.label":  {"'latin1'", "str(FULL)"},
	"text.decode": {"'utf-8', 0, '', buf(9)", "'utf-8', 0, '', cycle(FULL, 0xff)",
		"'gb18030', 4, '', cycle(FULL, 0x81, 0x30, 0x81, 0x31)", "'gbk', 0, '', cycle(FULL, 0x81, 0x40)",
		"'iso-2022-jp', 0, '', cycle(FULL, 0x1b, 0x24, 0x42, 0x30, 0x21)", "'big5', 0, '', cycle(FULL, 0xa4, 0x40)",
		"'shift_jis', 1, '', cycle(FULL, 0xb1)", "'utf-16le', 4, '', cycle(FULL, 0, 0xd8)",
		"'windows-1252', 0, '', cycle(FULL, 0x80)"},
	"base64.atob": {"'YWI='", "str(FULL, 'AAAA')", "str(FULL, '////')", "str(FULL, ' ')", "str(FULL / 2, '日')"},
	"base64.btoa": {"'ab'", "str(FULL)", "str(FULL - 1, 'é') + '日'"},
	"json.fault": {"'{\"a\":1,}'", "str(1 << 16, '[')", "str(2 * M)", "null",
		"'[' + str(60000, '1,')", "'\"' + str(60000, 'é') + '\\\\u12'"},
	"url.parse": {"'http://a/b?c#d', null", "'http://h/?' + str(2 * M - 20, 'é'), null",
		"'http://h/#' + str(2 * M - 20, '<'), null", "'data:' + str(2 * M - 20, 'é'), null",
		"'http://h/' + str(2 * M - 20), null", "'http://h' + str(16000, '/' + str(3)), null",
		"'http://' + str(4000, '@') + '/', null", "'http://' + str(1000, 'é.') + '/', null",
		"str(16000, '../'), 'http://h' + str(16000, '/' + str(3))", "str(2 * M, '\\t'), 'http://h?' + str(M)"},
	"url.set": {"'http://a/', 'hash', 'x'", "'http://a/', 'search', str(2 * M, '<')",
		"'http://a/?' + str(M), 'pathname', str(16000, '/a')", "'http://a/', 'host', str(4096, 'é')",
		"'http://a/#' + str(2 * M - 20), 'username', str(4096, '@')"},
	"form.parse": {"'a=1&b=%20'", "str(FULL, 'a&')", "'a=' + str(FULL, '%41')", "str(FULL, '&')",
		"str(FULL, '%ff')", "'a=' + str(FULL, '+')"},
	"form.format": {"'[\"a\",\"b c\"]'", "list(FULL, '\"\",')", "'[\"' + str(FULL, '\\\\u0000') + '\",\"\"]'",
		"'[\"' + str(FULL / 2, '日') + '\",\"\"]'", "str(FULL)"},
	"mime.parse": {"'text/plain;a=b'", "'a/b' + str(60000, ';a=b')", "str(60000, 'a/b,')",
		"'a/b;a=\"' + str(60000, '\\\\\"')"},
	"multipart.parse": {
		"'b', bytesOf('--b\\r\\nContent-Disposition: form-data; name=\"a\"\\r\\n\\r\\n1\\r\\n--b--\\r\\n')",
		"'b', cycle(FULL, 13, 10, 45, 45, 98, 13)", "str(200, '-'), cycle(FULL, 45)",
		"'b', bytesOf(str(FULL, '--b\\r\\nContent-Disposition: form-data; name=\"a\"\\r\\n\\r\\n1\\r\\n'))",
		"'b', bytesOf('--b\\r\\nContent-Disposition: form-data; ' + str(FULL, 'a=\"\";'))",
	},
	"exit.code":    {"0", "3", "'x'"},
	"exit":         {"0, 'null'", "1, str(M - 1)", "0, str(FULL)"},
	"garbage":      {""},
	"host.unicode": {"'xn--e1afmkfd.com'", "'xn--' + str(1000, 'a9')", "str(FULL)"},
	"stack.trace": {"'TypeError: x', '\\n    at f (script.js:1:1)'",
		"'TypeError: x', str(32000, '\\n    at f (script.js:1:1)')", "'TypeError: x', str(32000, '\\n    at ')",
		"'TypeError: ' + str(32000), str(32000, '    at f (native)\\n')",
		"'TypeError: x', str(FULL)", "str(FULL), str(FULL)"},
	"sleep": {"0", "-1", "1", "NaN", "'x'"},
	"stack.call": {"'    at f (script.js:1:1)'", "'    at f (script.js:' + str(300, '9') + ':1)'", "str(FULL)",
		"'    at f (script.js:1:999999999)'"},
	"stack.frames": {"new Error().stack", "str(32000, '\\n    at ')", "str(FULL)"},
	"value.iterator": {"[1][Symbol.iterator](), 2",
		"(() => { const s = new Set(); for (let i = 0; i < 20000; i++) s.add(i); const k = s.values(); for (let i = 0; " +
			"i < 19999; i++) k.next(); return k; })(), 2"},
	"value.kind":    {"{}"},
	"value.promise": {"Promise.resolve(1), 1"},
	"value.proxy":   {"new Proxy({}, {}), 0"},

	"crypto.digest":     {"'SHA-256', buf(9)", "'SHA3-512', buf(FULL)", "'SHA-1', buf(FULL)"},
	"crypto.hmac":       {"'SHA-256', buf(9), buf(9)", "'SHA3-512', buf(FULL), buf(FULL)"},
	"crypto.hmacVerify": {"'SHA-256', buf(9), buf(9), buf(32)", "'SHA3-512', buf(FULL), buf(9), buf(FULL)"},
	"crypto.aes": {"'GCM:128', 1, buf(16), buf(12), buf(9), buf(0)",
		"'GCM:32', 0, buf(32), buf(FULL / 2), buf(FULL), buf(FULL / 4)",
		"'CTR:32', 1, buf(32), cycle(16, 255), buf(FULL), buf(0)", "'CBC', 1, buf(32), buf(16), buf(FULL), buf(0)",
		"'CBC', 0, buf(32), buf(16), buf(FULL), buf(0)", "'KW', 1, buf(32), buf(0), buf(FULL), buf(0)",
		"'KW', 0, buf(32), buf(0), buf(FULL), buf(0)"},
	"crypto.hkdf": {"'SHA-256', buf(9), buf(9), buf(9), 32",
		"'SHA3-512', buf(FULL), buf(FULL), buf(FULL), 255 * 64", "'SHA-1', buf(9), buf(9), buf(FULL), 255 * 20"},
	"crypto.pbkdf2": {"'SHA-256', buf(9), buf(9), 1000, 32", "'SHA3-512', buf(FULL), buf(FULL), 1, 1 << 20",
		"'SHA-1', buf(1), buf(1), 1, 1 << 20", "'SHA-1', buf(1), buf(FULL), 900, 1 << 20",
		"'SHA-512', buf(1), buf(1), 2 ** 31 - 1, 1"},
	"crypto.generate": {"'P-521'", "'Ed25519'", "'X25519'", "'RSA:4096'", "'RSA:' + str(20, '9')"},
	"crypto.public": {"'P-521', key('ec')", "'RSA', key('rsa')", "'RSA', key('giant')", "'RSA', key('lopsided')",
		"'RSA', cycle(FULL, 48, 130)"},
	"crypto.sign": {"'ECDSA:P-521:SHA-512', key('ec'), buf(9)", "'Ed25519:Ed25519', key('ed'), buf(1 * M)",
		"'Ed25519:Ed25519', key('ed'), buf(FULL)", "'RSA-PSS:RSA:SHA-512:0', key('rsa'), buf(FULL)",
		"'RSA-PSS:RSA:SHA-512:2147483647', key('rsa'), buf(9)", "'RSASSA:RSA:SHA-512', key('rsa'), buf(9)"},
	"crypto.verify": {"'ECDSA:P-521:SHA-512', key('ecPublic'), buf(132), buf(9)",
		"'Ed25519:Ed25519', key('edPublic'), buf(64), buf(FULL)",
		"'RSA-PSS:RSA:SHA-512:0', key('rsaPublic'), cycle(512, 1), buf(FULL)",
		"'RSASSA:RSA:SHA-1', key('rsaPublic'), buf(FULL), buf(9)"},
	"crypto.oaep": {"'SHA-256', 1, key('rsaPublic'), buf(9), buf(0)",
		"'SHA-256', 0, key('rsa'), cycle(512, 1), buf(0)", "'SHA-1', 1, key('rsaPublic'), buf(9), buf(FULL)",
		"'SHA-1', 1, key('rsaPublic'), buf(FULL), buf(0)"},
	"crypto.agree": {"'P-521', key('ec'), key('ecPublic')", "'X25519', buf(FULL), buf(FULL)"},
	"crypto.check": {"'RSA', 1, key('rsa')", "'RSA', 0, key('rsaPublic')", "'RSA', 1, key('giant')",
		"'P-521', 1, buf(FULL)"},
	"crypto.fromRaw": {"'Ed25519', buf(32)", "'P-521', buf(FULL)", "'X25519', buf(FULL)"},
	"crypto.toRaw":   {"'P-521', key('ecPublic')", "'RSA', buf(FULL)"},
	"crypto.fromJwk": {"'Ed25519', '{\"x\":\"' + str(43) + '\"}'",
		"'RSA', JSON.stringify({ n: keys.giantN, e: 'AQAB', d: keys.giantP, p: keys.giantP, q: keys.giantP, dp: 'AQAB', " +
			"dq: 'AQAB', qi: 'AQAB' })",
		"'RSA', JSON.stringify({ n: keys.lopsidedN, e: 'AQAB', d: keys.lopsidedP, p: keys.lopsidedP, q: 'Aw', dp: " +
			"'AQAB', dq: 'AQAB', qi: 'AQAB' })", "'RSA', str(65000, '[')"},
	"crypto.toJwk":     {"'RSA', 1, key('rsa')", "'RSA', 1, key('giant')"},
	"crypto.rsaParams": {"1, key('rsa')", "1, key('lopsided')"},

	"zip.open": {"'gzip'", "'deflate', 9", "'brotli'", "'deflate-raw'", "'deflate', 9, noise(FULL, 4)",
		"'deflate', 9, undefined, 3"},
	"zip.write": {"$sync('zip.open', 'gzip'), buf(9), 1", "$sync('zip.open', 'deflate'), noise(FULL, 4), 0",
		"$sync('zip.open', 'brotli'), noise(FULL, 4), 1", "$sync('zip.open', 'gzip'), noise(FULL), 0",
		"$sync('zip.open', 'brotli'), noise(FULL, 4), 2", "$sync('zip.open', 'gzip', 9), noise(FULL), 2"},
	"unzip.open": {"'gzip'", "'brotli'"},
	"unzip.step": {"$sync('unzip.open', 'gzip'), zipped('gzip', buf(9)), 1",
		"$sync('unzip.open', 'deflate-raw'), cycle(FULL, 0, 0, 0, 255, 255), 0",
		"$sync('unzip.open', 'brotli'), cycle(FULL, 0x0b, 0x06), 0",
		"$sync('unzip.open', 'deflate'), zipped('deflate', buf(2 * M)), 0"},
	"zip.drop": {"1, 1", "0, 99"},

	"intl.zone": {"'Europe/Berlin', '0'", "str(FULL), str(FULL)"},
	"intl.compare": {"'de', 0, 'a', 'ä'", "'en', 0, str(FULL / 2, '각'), str(FULL / 2, '각')",
		"'en', 1, str(FULL, '7'), str(FULL, '7') + '8'",
		"'sv', 6, str(FULL / 2, 'a\\u0316\\u0301'), str(FULL / 2, 'a\\u0301\\u0316')"},
	"intl.locale": {"'de-latn-de'", "str(128, 'a-')"},
	"intl.likely": {"'zh', 1", "str(128, 'aa-'), 1"},
	"intl.data":   {"'number', 'de-CH-u-nu-latn'", "'relative', str(128, 'aa-')"},
	"intl.name":   {"'region', 'DE', 'fr'", "'language', str(128, 'aa-'), 'de'"},
	"intl.segment": {"'word', 'a b'", "'word', str(FULL)", "'grapheme', 'a' + str(FULL / 2, '\\u0301')",
		"'sentence', str(FULL, 'a.\\'1(')", "'word', str(FULL, 'a:')", "'grapheme', str(FULL, 'a')",
		"'sentence', str(FULL, '. ')"},

	"module": {"'fs'", "str(1024, '/')"},
	"buffer.encode": {"'hex', buf(9)", "'hex', buf(FULL)", "'base64', buf(FULL)",
		"'latin1', cycle(FULL, 0, 255)"},
	"buffer.decode": {"'hex', 'ff'", "'hex', str(FULL)", "'base64', str(FULL, '-_')", "'base64', str(FULL / 2, '日')",
		"'latin1', str(FULL)", "'latin1', str(FULL / 2, '日')"},
	"buffer.search": {"buf(9), buf(2), 0", "cycle(FULL, 1, 2), cycle(M, 2, 1), 2", "cycle(FULL, 1, 2), cycle(M, 2, 1), 3",
		"buf(FULL), cycle(M, 0, 0, 1), 1", "buf(FULL), cycle(M, 0, 0, 1), 0", "buf(FULL), cycle(4095, 0, 0, 1), 0",
		"buf(FULL), cycle(4095, 1, 0, 0), 1", "buf(9), buf(0), 1"},
	"hash": {"'md5', buf(9)", "'sha3-512', buf(FULL)", "'md5', buf(FULL)"},
	"hmac": {"'sha256', buf(9), buf(9)", "'sha3-512', buf(FULL), buf(FULL)"},
	"pbkdf2": {"'sha1', buf(9), buf(9), 100, 20", "'sha3-512', buf(9), buf(FULL), 2, 1 << 20",
		"'md5', buf(1), buf(1), 999, 1 << 20"},
	"scrypt": {"buf(9), buf(9), 16, 1, 1, 32", "buf(FULL), buf(9), 2, 1, 1, 32", "buf(9), buf(9), 1 << 16, 8, 1, 64",
		"buf(9), buf(9), 2, 1 << 18, 1, 64", "buf(9), buf(9), 1 << 19, 1, 8192, 1 << 20",
		"buf(9), buf(9), 1 << 30, 1 << 30, 1, 64", "buf(9), buf(9), 2, 1, 8192, 9"},
	"hkdf": {"'sha1', buf(9), buf(9), buf(9), 20", "'sha3-512', buf(9), buf(FULL), buf(FULL), 255 * 64"},
	"cipher": {"'aes-128-cbc', 2, buf(16), buf(16), buf(9), buf(0)",
		"'aes-256-gcm', 0, buf(32), buf(12), buf(FULL), buf(FULL)",
		"'aes-256-gcm', 1, buf(32), buf(FULL), buf(FULL), buf(0)", "'aes-256-ecb', 3, buf(32), buf(0), buf(FULL), buf(0)",
		"'aes-256-ctr', 0, buf(32), buf(16), buf(FULL), buf(0)", "'chacha20', 0, buf(32), buf(16), buf(FULL), buf(0)"},
	"zlib": {"'gzip', 6, M, buf(9)", "'deflate', 9, M, noise(FULL, 4), 6", "'brotli', 11, 1 << 30, noise(FULL, 4)",
		"'deflate', 9, 1 << 30, noise(FULL, 4)", "'inflate-raw', 0, 1 << 30, cycle(FULL, 0, 0, 0, 255, 255)",
		"'gunzip', 0, 1 << 30, zipped('gzip', buf(4 * M))", "'brotli-decompress', 0, 1 << 30, cycle(FULL, 0x0b, 0x06)",
		"'unzip', 0, 1 << 30, noise(FULL)", "'gunzip', 0, 1 << 30, zipped('gzip', buf(4 * M)), 1",
		"'brotli-decompress', 0, 1 << 30, cycle(FULL, 0x0b, 0x06), 1", "'deflate', 9, M, buf(9), 0, noise(FULL, 4)",
		"'inflate', 0, M, buf(9), 0, noise(FULL, 4)", "'inflate-raw', 0, M, zipped('deflate-raw', buf(9)), 0, buf(FULL)"},

	"fs.stat":     {"'/a'", "str(FULL)"},
	"fs.read":     {"'/big'", "str(1024, '/a')", "'/big', 5, 2 ** 31 - 1", "'/a', -1, -1"},
	"fs.write":    {"'/new', -2, buf(9)", "'/new', -1, buf(FULL)", "'/new', 2 ** 31 - 1, buf(FULL)"},
	"fs.truncate": {"'/a', 1", "'/a', 16 * M - 9", "'/a', 2 ** 31 - 1"},
	"fs.mkdir":    {"'/d', true", "str(1024, '/a'), true"},
	"fs.remove":   {"'/a', false, false", "'/', true, true"},
	"fs.rename":   {"'/a', '/b'", "'/tmp', '/d' + str(500, '/e')"},
	"fs.list":     {"'/'", "str(FULL)"},
	"fs.change":   {"'/a', 420, 1", "'/a', -1, -1"},

	"fetch.send":  {"1, buf(9)", "1, buf(FULL)"},
	"fetch.abort": {"1"},
	"setup":       {""},
	"step":        {"1"},
	"tool": {"'t:call', '{}'", "'t:call', list(M - 9, '{},')", "'t:call', list(M - 9, '[1],')",
		"'t:call', '[[' + str(M - 9, '1,') + '1]]'", "'t:call', str(FULL)"},
}

// laterArguments has the payloads of asynchronous operations.
var laterArguments = map[string][]string{
	"fetch": {`'{"id":1,"url":"http://example.com/"}'`, "str(FULL)",
		`'{"id":1,"headers":' + list(FULL / 2, '["",""],') + '}'`},
	"fetch.read": {"'1'", "str(FULL)"},
	"wait.sleep": {`'{"Ms":60000}'`, "str(FULL)", `'{"Ms":1e308}'`, `'{"Ms":-1}'`},
	"wait.event": {`'{"Name":"paid","Ms":60000}'`, "str(FULL)", `'{"Name":"' + str(1 << 17) + '"}'`},
	"wait.approve": {`'{"Title":"t","Schema":{"type":"object"}}'`, "str(FULL)", `'{"Schema":' + str(1 << 17, '[') + '}'`,
		`'{"Schema":{"pattern":"' + str(1 << 15, '(a?)') + '"}}'`},
	"tool:t:call": {"'{}'", "list(M - 9, '{},')", "str(FULL)"},
}

// forged are calls of the host that the library never makes.
var forged = []string{
	"$host(1, 0, str(FULL), 0)", "$host(1, 0, str(FULL / 2, '日'), 0)", "$host(5, str(FULL), 0, 0)",
	"$host(6, str(FULL), str(FULL), str(FULL), {})", "$host(8, 1, 'nothing', str(FULL))",
	"$host(2, i, 2 ** 31 - 1, 0)", "$host(9, str(FULL), 0, 0)", "$host(99, str(FULL), 0, 0)",
	"$host(8, i, 'nothing', str(M))",
	"Error.stackTraceLimit = 1e9; const f = (n) => n > 0 ? f(n - 1) : new Error().stack.length; " +
		"Object.defineProperty(f, 'name', { value: str(M) }); f(40)",
}

// mutated makes arguments of any kind and size from a seed.
func mutated(r *mathrand.Rand) string {
	size := func() int { return r.IntN(1 << r.IntN(25)) }
	kinds := []func() string{
		func() string { return fmt.Sprint(r.IntN(300) - 20) },
		func() string { return fmt.Sprint(r.Int32()) },
		func() string { return fmt.Sprintf("buf(%d)", size()) },
		func() string { return fmt.Sprintf("noise(%d)", size()) },
		func() string { return fmt.Sprintf("str(%d)", size()) },
		func() string { return fmt.Sprintf("str(%d, '日\\ud800%%+&=')", size()/2) },
		func() string {
			return []string{"null", "undefined", "true", "{}", "1.5", "'utf-8'", "'sha256'", "'SHA-256'", "'gzip'", "'RSA'",
				"'/a'"}[r.IntN(11)]
		},
	}
	args := make([]string, r.IntN(7))
	for i := range args {
		args[i] = kinds[r.IntN(len(kinds))]()
	}
	return strings.Join(args, ", ")
}
