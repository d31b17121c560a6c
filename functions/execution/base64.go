package execution

import (
	"encoding/base64"
	"encoding/binary"
	"slices"
	"sync"
)

// base64Pairs returns the two digits of each 12 bits, the first one in the lower byte.
var base64Pairs = sync.OnceValue(func() *[1 << 12]uint16 {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	var pairs [1 << 12]uint16
	for i := range pairs {
		pairs[i] = uint16(digits[i>>6]) | uint16(digits[i&63])<<8
	}
	return &pairs
})

// appendBase64 does what base64.StdEncoding.AppendEncode does, in half the time for megabytes.
func appendBase64(out, b []byte) []byte {
	pairs := base64Pairs()
	more := base64.StdEncoding.EncodedLen(len(b))
	out = slices.Grow(out, more)
	out = out[:len(out)+more]
	to := out[len(out)-more:]
	for len(b) >= 8 && len(to) >= 8 { // 6 bytes are 8 digits
		v := binary.BigEndian.Uint64(b) >> 16
		binary.LittleEndian.PutUint64(to, uint64(pairs[v>>36])|uint64(pairs[v>>24&0xfff])<<16|
			uint64(pairs[v>>12&0xfff])<<32|uint64(pairs[v&0xfff])<<48)
		b, to = b[6:], to[8:]
	}
	base64.StdEncoding.Encode(to, b)
	return out
}
