//go:build !unix

package main

import "os"

// terminalGone never is: the system ends the processes of a console itself.
func terminalGone(*os.File) <-chan struct{} { return nil }
