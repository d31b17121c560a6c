package node

import (
	"encoding/base64"
	"encoding/hex"

	"github.com/airlock-run/airlock/sandbox/internal/hostops"
	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// bufferEncode answers buffer.encode(encoding, bytes): it returns text.
func bufferEncode(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	encoding, _ := c.Word(a[0], 16)
	b, err := c.View(a[1])
	if err != nil {
		return 0, err
	}
	switch encoding {
	case "hex":
		out := hostops.Buffer{C: c}
		if err := out.Room(hex.EncodedLen(len(b))); err != nil {
			return 0, err
		}
		err := c.Pieces(b, 1, func(piece []byte) error {
			out.B = hex.AppendEncode(out.B, piece)
			return nil
		})
		if err != nil {
			return 0, err
		}
		return c.NewString(hostops.StringOf(out.B))
	case "base64":
		return c.NewBase64(base64.StdEncoding, b)
	case "base64url":
		return c.NewBase64(base64.RawURLEncoding, b)
	}
	return 0, hostops.ErrForged
}

// bufferDecode answers buffer.decode(encoding, text): it returns bytes. As in Node, hex ends at the first pair that
// is not hexadecimal, and base64 skips characters of neither alphabet and ends at the first "=".
func bufferDecode(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	encoding, _ := c.Word(a[0], 16)
	t, ok := c.In.Text(a[1])
	if !ok || encoding != "hex" && encoding != "base64" && encoding != "base64url" {
		return 0, hostops.ErrForged
	}
	out := hostops.Buffer{C: c}
	if err := out.Room(t.Len()/4*3 + 3); err != nil {
		return 0, err
	}
	var d hostops.Sextets
	half, ended := -1, false
	err := c.Parts(t, 2, func(part quickjs.Text) error {
		units, ok := part.Latin1()
		if !ok {
			units = []byte(part.String()) // what is not ASCII is of neither alphabet, in UTF-8 too
		}
		for _, unit := range units {
			switch {
			case ended:
				return nil
			case encoding == "hex":
				digit := hostops.HexDigit(unit)
				if ended = digit < 0; ended {
				} else if half < 0 {
					half = digit
				} else {
					out.B, half = append(out.B, byte(half<<4|digit)), -1
				}
			case unit == '=':
				ended = true
			default:
				if unit == '-' {
					unit = '+'
				} else if unit == '_' {
					unit = '/'
				}
				if v := hostops.Base64Values[unit]; v < 64 {
					if b, ok := d.Push(v); ok {
						out.B = append(out.B, b)
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return c.NewBytes(out.B)
}
