//go:build !linux

package localinvoke

import "time"

// usage is not known here: no process is ever found too large.
type usage struct{}

func newUsage(int) *usage { return &usage{} }

func (*usage) resident() int64          { return 0 }
func (*usage) processor() time.Duration { return 0 }
func (*usage) clock() time.Duration     { return unknown }
func (*usage) stopped() bool            { return false }
func (*usage) close()                   {}
