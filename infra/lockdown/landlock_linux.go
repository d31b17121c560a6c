package lockdown

import (
	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// scopesABI is the version of Landlock that knows scopes.
const scopesABI = 6

// What the folders of Config allow. go-landlock's own RODirs and RWDirs allow to execute, too.
const (
	reading = ll.AccessFSReadFile | ll.AccessFSReadDir
	writing = reading | ll.AccessFSWriteFile | ll.AccessFSTruncate | ll.AccessFSMakeReg | ll.AccessFSMakeDir |
		ll.AccessFSRemoveFile | ll.AccessFSRemoveDir
)

// restrict builds what the kernel has of Landlock. An ABI of 0 is none.
func restrict(cfg Config, abi int) error {
	if abi < 1 {
		return nil
	}
	write := landlock.AccessFSSet(writing)
	if abi >= 2 {
		write |= ll.AccessFSRefer // moving a file from one folder to another; older kernels refuse that anyway
	}
	rules := []landlock.Rule{
		landlock.PathAccess(reading, cfg.Read...),
		landlock.PathAccess(write, cfg.Write...),
	}
	all := landlock.V11
	if cfg.Network {
		all.HandledAccessNet = 0
		rules = append(rules,
			landlock.PathAccess(ll.AccessFSReadFile, resolverFiles()...).IgnoreIfMissing(),
			landlock.PathAccess(reading, certificateFolders()...).IgnoreIfMissing(),
		)
	} else {
		for _, port := range cfg.Ports {
			rules = append(rules, landlock.ConnectTCP(port))
		}
	}
	// One ruleset for everything: each further one would forbid moving files between folders.
	return all.BestEffort().Restrict(rules...)
}

// resolverFiles are what net reads to turn names into addresses.
func resolverFiles() []string {
	return []string{"/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/services", "/etc/protocols"}
}

// certificateFolders are where crypto/x509 looks on the distributions it knows, and where their links lead.
func certificateFolders() []string {
	return []string{
		"/etc/ssl/certs", "/etc/pki/tls/certs", "/etc/pki/ca-trust/extracted", "/system/etc/security/cacerts",
		"/usr/share/ca-certificates", "/usr/local/share/ca-certificates", "/etc/ca-certificates", "/run/systemd/resolve",
	}
}
