package egress

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"

	"github.com/airlock-run/airlock/policy/address"
	"github.com/airlock-run/airlock/sandbox/internal/hostops"
)

// Mode is how far a network reaches.
type Mode int

// The modes.
const (
	None Mode = iota
	// Allowlist reaches only Rules.Hosts.
	Allowlist
	// Public reaches any public address, or only Rules.Hosts if there are any.
	Public
)

// Rules are what one run may reach; see sandbox.Network.
type Rules struct {
	Mode               Mode
	Hosts, OpenedHosts []string
	Secrets            []Secret
}

// Secret is a value that the guest uses by its placeholder.
type Secret struct {
	Name, Value string
	Hosts       []string
}

const (
	maxRedirects   = 5
	maxURL         = 16 << 10
	maxHeaderBytes = 64 << 10
)

// badPorts are those of other protocols (Fetch Standard, port blocking). A pattern that names one opens it.
var badPorts = []int{
	1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110, 111,
	113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548,
	554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566,
	6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
}

// target is where a request goes, in canonical form.
type target struct {
	url    *url.URL
	host   string // a name or an address
	addr   netip.Addr
	port   int
	opened bool
	reach  address.Reach
}

// refusal is the error of a request that the grants do not cover, in words for the guest.
type refusal string

func (e refusal) Error() string { return string(e) }

// locate parses a URL and decides whether the run may go there. forTool reports that the URL is a tool's own.
func (r *Rules) locate(raw string, forTool bool) (*target, error) {
	if len(raw) > maxURL {
		return nil, refusal(fmt.Sprintf("the URL has %d bytes; at most %d are accepted", len(raw), maxURL))
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, refusal("the URL cannot be read")
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, refusal(fmt.Sprintf("the scheme %q is not supported; use https or http", hostops.CutBytes(u.Scheme, 20)))
	case u.User != nil:
		return nil, refusal("the URL contains credentials; send an Authorization header")
	case u.Opaque != "" || u.Host == "":
		return nil, refusal("the URL has no host")
	}
	t := &target{url: u}
	if t.host, t.addr, err = address.Host(u.Hostname()); err != nil {
		return nil, refusal(err.Error())
	}
	t.port = map[string]int{"http": 80, "https": 443}[u.Scheme]
	if p := u.Port(); p != "" {
		if t.port, err = strconv.Atoi(p); err != nil || t.port < 1 || t.port > 65535 {
			return nil, refusal("the URL's port is not a number from 1 to 65535")
		}
	}
	u.Host = t.authority()
	u.Fragment, u.RawFragment = "", ""
	opened := address.Hosts(r.OpenedHosts).Match(t.host, t.port)
	t.opened, t.reach = opened.OK, opened.Reach()
	var named address.Match
	allowed := false
	switch r.Mode {
	case Allowlist:
		named = address.Hosts(r.Hosts).Match(t.host, t.port)
		allowed = named.OK
	case Public:
		named = address.Hosts(r.Hosts).Match(t.host, t.port)
		allowed = named.OK || len(r.Hosts) == 0
	}
	allowed = allowed || forTool && t.opened
	switch {
	case !allowed && r.Mode == None && !forTool:
		return nil, refusal("this execution has no network access")
	case !allowed:
		return nil, refusal(fmt.Sprintf("the host %s is not among the hosts that this execution may reach", t.authority()))
	case !named.Port && !opened.Port && slices.Contains(badPorts, t.port):
		return nil, refusal(fmt.Sprintf("port %d is not one that HTTP is served on", t.port))
	case t.addr.IsValid() && !t.reach.Permits(t.addr):
		return nil, refusal(notPublic(t.host))
	}
	return t, nil
}

func notPublic(host string) string {
	return fmt.Sprintf("the address of %s is not a public one", host)
}

// authority returns host and port as a URL has them.
func (t *target) authority() string {
	host := t.host
	if t.addr.Is6() {
		host = "[" + host + "]"
	}
	if t.port == 443 && t.url.Scheme == "https" || t.port == 80 && t.url.Scheme == "http" {
		return host
	}
	return host + ":" + strconv.Itoa(t.port)
}

func (t *target) origin() string { return t.url.Scheme + "://" + t.host + ":" + strconv.Itoa(t.port) }
