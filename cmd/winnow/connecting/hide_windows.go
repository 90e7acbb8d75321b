package connecting

import (
	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/windows"
)

func hide(s *term.State) { s.Mode &^= windows.ENABLE_ECHO_INPUT }
