package deflate

import (
	"encoding/binary"
	"hash"
	"hash/adler32"
	"hash/crc32"
	"io"
)

// Container compresses to the zlib or the gzip format.
type Container struct {
	*Writer
	w       io.Writer
	sum     hash.Hash32
	header  []byte // until it is written
	trailer func(sum, size uint32) []byte
	size    uint32
}

// NewZlib returns a writer of the zlib format with a level and a strategy as of [NewWriter].
func NewZlib(w io.Writer, level int, strategy Strategy) *Container {
	effort := uint16(3)
	switch {
	case strategy >= HuffmanOnly:
		effort = 0
	case level < 0, level == 6:
		effort = 2
	case level < 2:
		effort = 0
	case level < 6:
		effort = 1
	}
	header := 0x7800 | effort<<6
	return &Container{Writer: NewWriter(w, level, strategy), w: w, sum: adler32.New(),
		header:  binary.BigEndian.AppendUint16(nil, header+31-header%31),
		trailer: func(sum, _ uint32) []byte { return binary.BigEndian.AppendUint32(nil, sum) }}
}

// NewGzip returns a writer of the gzip format with a level and a strategy as of [NewWriter].
func NewGzip(w io.Writer, level int, strategy Strategy) *Container {
	const unix = 3
	effort := byte(0)
	switch {
	case level == 9:
		effort = 2
	case strategy >= HuffmanOnly, level == 0, level == 1:
		effort = 4
	}
	return &Container{Writer: NewWriter(w, level, strategy), w: w, sum: crc32.NewIEEE(),
		header: []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, effort, unix},
		trailer: func(sum, size uint32) []byte {
			return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, sum), size)
		}}
}

// Preset makes the input refer to a dictionary, as [Writer.Preset] does, and the header of the zlib format identify it.
// The gzip format has none.
func (c *Container) Preset(dictionary []byte) {
	const has = 0x20
	if len(c.header) != 2 || len(dictionary) == 0 {
		return
	}
	c.Writer.Preset(dictionary)
	header := binary.BigEndian.Uint16(c.header)&^0x1f | has
	c.header = binary.BigEndian.AppendUint16(nil, header+31-header%31)
	c.header = binary.BigEndian.AppendUint32(c.header, adler32.Checksum(dictionary))
}

func (c *Container) begin() error {
	_, err := c.w.Write(c.header)
	c.header = nil
	return err
}

// Write implements io.Writer.
func (c *Container) Write(p []byte) (int, error) {
	if err := c.begin(); err != nil {
		return 0, err
	}
	c.size += uint32(len(p))
	_, _ = c.sum.Write(p) // never fails
	return c.Writer.Write(p)
}

// Flush ends a block at a byte. What follows refers to nothing before.
func (c *Container) Flush() error {
	if err := c.begin(); err != nil {
		return err
	}
	return c.Writer.Flush()
}

// Close ends the stream.
func (c *Container) Close() error {
	if err := c.begin(); err != nil {
		return err
	}
	if err := c.Writer.Close(); err != nil {
		return err
	}
	_, err := c.w.Write(c.trailer(c.sum.Sum32(), c.size))
	return err
}
