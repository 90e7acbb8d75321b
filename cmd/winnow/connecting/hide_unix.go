//go:build unix

package connecting

import (
	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"
)

func hide(s *term.State) { s.Lflag &^= unix.ECHO }
