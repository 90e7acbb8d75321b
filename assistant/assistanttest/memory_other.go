//go:build !linux

package assistanttest

// UseMemory does nothing: only Linux always has a file system in memory.
func UseMemory() {}
