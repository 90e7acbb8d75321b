package main

import (
	"context"
	"os"
)

func main() {
	// What Bubble Tea would write raw input and panics to.
	os.Unsetenv("TEA_TRACE")
	os.Unsetenv("TEA_DEBUG")
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
