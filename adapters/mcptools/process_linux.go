package mcptools

import (
	"os/exec"
	"syscall"
)

// endWithProgram makes the system kill c when this program ends, for whatever reason. Call
// processgroup.Separate first.
func endWithProgram(c *exec.Cmd) { c.SysProcAttr.Pdeathsig = syscall.SIGKILL }
