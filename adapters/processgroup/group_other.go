//go:build !unix

package processgroup

import "os/exec"

// Separate does nothing, because this system has no process groups.
func Separate(*exec.Cmd) {}

// Terminate ends the command.
func Terminate(c *exec.Cmd) { _ = c.Process.Kill() }

// Kill ends the command.
func Kill(c *exec.Cmd) { _ = c.Process.Kill() }
