//go:build !linux

package mcptools

import "os/exec"

// endWithProgram does nothing, because only Linux can kill a command when its parent ends.
func endWithProgram(*exec.Cmd) {}
