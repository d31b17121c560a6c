package gateway_test

import (
	"strings"
	"testing"
)

// A request of Piston costs the gateway's own process no more than a request of the API.
func TestOwnCostsOfPiston(t *testing.T) {
	s := kept(t, options{reader: newFarReader(t), invoke: small})
	const full, most = 1<<20 - 400, 16<<20 - 400
	repeat := strings.Repeat
	head := `{"language":"js","version":"*",`
	file := func(content string) string { return head + `"files":[{"content":"` + content + `"}]}` }
	for _, body := range []string{
		file(repeat("f(1234, 'text', a.b);", most/21-10)),
		file(repeat(`f(1234, 'text', a.b);\n`, most/23-10)),
		file(repeat(`\u0001\n`+repeat("x", 16), 600_000)),
		file("1") + repeat(" ", most-200),
		head + `"files":[{"content":"1"},{"name":"a","encoding":"base64","content":"` + repeat("AAAA", most/4-40) + `"}]}`,
		head + `"files":[{"content":"1"},{"name":"a","encoding":"hex","content":"` + repeat("00", most/2-80) + `"}]}`,
		head + `"files":[{"content":"1"}` + repeat(`,{"name":"a","content":""}`, most/26-10) + `]}`,
		head + `"files":[{"content":"1"}` + repeat(`,0`, full/2-60) + `]}`,
		head + `"files":[{"content":"1"}],"run_timeout":[0` + repeat(",0", full/2-80) + `]}`,
		head + `"files":[{"content":"1"}],"compile_timeout":[[]` + repeat(",[]", full/3-80) + `]}`,
		head + `"files":[{"content":"1"}],"args":[""` + repeat(`,""`, full/3-80) + `]}`,
		head + `"files":[{"content":"1"}],"stdin":"` + repeat(`\u0001`, full/6-80) + `"}`,
		head + `"files":[{"content":"1"}],"x":[0` + repeat(",0", full/2-80) + `]}`,
		head + `"files":[{"content":"1"}],"x":[0` + repeat(",0", most/2-80) + `]}`,
	} {
		s.bounded(t, "POST", "/api/v2/execute", body)
	}
}
