//go:build !linux

package assistanttest

// UseMemory does nothing: only Linux has a folder in memory that is always there.
func UseMemory() {}
