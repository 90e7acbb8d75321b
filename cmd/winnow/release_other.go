//go:build !linux

package main

import "runtime/debug"

// releaseMemory returns free heap memory to the system.
func releaseMemory() { debug.FreeOSMemory() }
