//go:build !unix

package checkpoint

// noFollow has no equivalent here; the check before opening has to do.
const noFollow = 0
