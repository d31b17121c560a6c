package child

import (
	"math"
	"time"
)

// Unknown is the reading of a clock that cannot be read.
const Unknown = time.Duration(math.MaxInt64)
