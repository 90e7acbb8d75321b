//go:build unix && !linux

package mcptools

import (
	"os/exec"
	"syscall"
)

// inGroup puts a command into its own process group, so that keys typed in the terminal do
// not reach it.
func inGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func terminate(c *exec.Cmd) { _ = syscall.Kill(-c.Process.Pid, syscall.SIGTERM) }

func kill(c *exec.Cmd) { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
