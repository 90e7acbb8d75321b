//go:build !linux

package assistanttest

// Memory is empty: there is no folder in memory.
const Memory = ""

// UseMemory does nothing: only Linux always has a file system in memory.
func UseMemory() {}
