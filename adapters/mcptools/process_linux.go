package mcptools

import (
	"os/exec"
	"syscall"
)

// endWithProgram has a separate command killed when this program ends for whatever reason.
func endWithProgram(c *exec.Cmd) { c.SysProcAttr.Pdeathsig = syscall.SIGKILL }
