//go:build unix

package processgroup

import (
	"os/exec"
	"syscall"
)

// Separate makes a command start in its own session, so that keys typed in the terminal do not reach it, and it cannot
// prompt there.
func Separate(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// Terminate asks the processes of a separate command to end.
func Terminate(c *exec.Cmd) { _ = syscall.Kill(-c.Process.Pid, syscall.SIGTERM) }

// Kill ends the processes of a separate command, even if the command itself has ended.
func Kill(c *exec.Cmd) { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
