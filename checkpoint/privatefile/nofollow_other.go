//go:build !unix

package privatefile

// NoFollow has no equivalent here: callers look at a file before they open it.
const NoFollow = 0
