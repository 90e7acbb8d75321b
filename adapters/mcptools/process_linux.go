package mcptools

import (
	"os/exec"
	"syscall"
)

// inGroup gives a command a process group of its own, so that keys of the terminal do not reach it, and has it killed
// when this program ends in whatever way.
func inGroup(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

func terminate(c *exec.Cmd) { _ = syscall.Kill(-c.Process.Pid, syscall.SIGTERM) }

func kill(c *exec.Cmd) { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
