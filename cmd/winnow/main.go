package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	// What Bubble Tea would write raw input and panics to.
	os.Unsetenv("TEA_TRACE")
	os.Unsetenv("TEA_DEBUG")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal cancels; a second one ends the process as ever.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
