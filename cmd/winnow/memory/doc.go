// Package memory returns to the system what a process does not need any more. Release is
// safe from any goroutine.
package memory
