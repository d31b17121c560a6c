package web

import (
	"github.com/airlock-run/airlock/sandbox/internal/hostops"
	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// Ops are the operations by name. Every guest may call them.
var Ops = map[string]hostops.Op{
	"random":  randomBytes,
	"garbage": garbage,

	"utf8.encode": utf8Encode,
	"text.decode": textDecode,
	"text.label":  textLabel,
	"base64.atob": base64Decode,
	"base64.btoa": base64Encode,

	"json.fault":   jsonFault,
	"url.parse":    urlParse,
	"url.set":      urlSet,
	"host.unicode": hostUnicode,

	"form.parse":      formParse,
	"form.format":     formFormat,
	"mime.parse":      mimeParse,
	"multipart.parse": multipartParse,

	"value.iterator": iteratorPart,
	"value.kind":     valueKind,
	"value.promise":  promiseState,
	"value.proxy":    proxyPart,
}

// maxRandom is how many random bytes the guest gets at a time (Web Cryptography API, getRandomValues).
const maxRandom = 65536

// randomBytes answers random(n): it returns n random bytes.
func randomBytes(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	n, ok := a[0].Int()
	if !ok || n < 0 || n > maxRandom {
		return 0, hostops.ErrForged
	}
	b := make([]byte, n)
	if _, err := c.Random().Read(b); err != nil {
		return 0, err
	}
	return c.NewBytes(b)
}

// garbage answers garbage(): it notes that the guest looks at what was collected.
func garbage(c *hostops.Call, _ []quickjs.Value) (quickjs.Value, error) {
	c.Taint()
	return quickjs.Undefined, nil
}
