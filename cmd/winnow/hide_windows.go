package main

import (
	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/windows"
)

func hideEcho(s *term.State) { s.Mode &^= windows.ENABLE_ECHO_INPUT }

func closeOnExec(int) {} // on Windows no service manager passes sockets
