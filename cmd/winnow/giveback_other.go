//go:build !linux

package main

import "runtime/debug"

// giveBack returns free memory of the heap to the system.
func giveBack() { debug.FreeOSMemory() }
