//go:build !unix

package keyinput

import (
	"os"
	"time"
)

// readable is not known on this system.
var readable func(*os.File, time.Duration) bool
