//go:build !unix

package terminal

import (
	"os"
	"time"
)

// readable is nil: this system has no poll.
var readable func(*os.File, time.Duration) bool
