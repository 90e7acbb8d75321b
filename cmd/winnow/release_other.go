//go:build !linux

package main

import "runtime/debug"

// releaseMemory returns free memory of the heap to the system.
func releaseMemory() { debug.FreeOSMemory() }
