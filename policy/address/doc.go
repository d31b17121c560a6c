// Package address decides which network addresses may be dialled. Every outgoing connection of the program, to a host
// that a guest, a caller or the operator named, obeys it.
//
// # Classes
//
// [ClassOf] assigns an address to one of four classes by one table: IANA's special-purpose registries and the metadata
// services of clouds.
//
//   - Public: a unicast address of the Internet. Always reachable.
//   - Private: an address of somebody's own network. Reachable behind a host that the deployment opened.
//   - Loopback: this machine. Reachable behind a host that the deployment opened by its exact name or address.
//   - Never: link-local, metadata, multicast, reserved and unallocated addresses, and those that carry another address
//     inside (NAT64, 6to4, Teredo, IPv4-compatible, ISATAP). No setting opens them.
//
// # Names
//
// A name is opened, not the addresses it has at that moment, so the class is checked when a connection is made:
// [Reach.Control] sees the address that the kernel is about to connect to, for every address that is tried. Between
// that check and the connection nothing is resolved again.
//
// An opened name may lead to public and private addresses, and to loopback ones if its pattern is exact. A wildcard
// does not reach this machine, because anybody who can create a record below the domain could point it here.
//
// NAT64 with a prefix of the network's own choice cannot be recognised: its addresses look like any others.
//
// Every package may import it; it imports nothing of the module. Start with [ClassOf], [Reach] and [Host].
package address
