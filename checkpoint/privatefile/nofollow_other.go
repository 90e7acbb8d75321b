//go:build !unix

package privatefile

// NoFollow has no equivalent on this system: callers check a file before they open it.
const NoFollow = 0
