//go:build !unix

package privatefile

// NoFollow is 0 because this system has no such flag: callers check a file before they open it.
const NoFollow = 0
