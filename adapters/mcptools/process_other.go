//go:build !unix

package mcptools

import "os/exec"

func inGroup(*exec.Cmd) {}

func terminate(c *exec.Cmd) { _ = c.Process.Kill() }

func kill(c *exec.Cmd) { _ = c.Process.Kill() }
