//go:build unix

package main

import (
	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"
)

func hideEcho(s *term.State) { s.Lflag &^= unix.ECHO }

func closeOnExec(fd int) { unix.CloseOnExec(fd) }
