//go:build !linux

package memory

import "runtime/debug"

// Release returns free memory of the heap to the system.
func Release() { debug.FreeOSMemory() }
