package main

import (
	"context"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"winnow/adapters/config"
	"winnow/adapters/endpoints"
	"winnow/assistant/history"
	"winnow/tui/connectcard"
	"winnow/tui/plain"
	"winnow/tui/style"
)

// connectSkippedKey is the key of the history setting that records that the user skipped connecting a model.
const connectSkippedKey = "connect:skipped"

// connector returns a Connector for this run; pick selects a model for this folder.
func (a *app) connector(set *endpoints.Set, store history.Settings, pick func(ctx context.Context, id string) error) (*endpoints.Connector, error) {
	o, err := a.endpointOptions()
	o.ReadPause = screenReadPause
	return endpoints.NewConnector(endpoints.ConnectOptions{
		Endpoints: o, Set: set, Themes: style.Themes(), Pick: pick,
		Dismiss: func(ctx context.Context) error { return store.Set(ctx, connectSkippedKey, "yes") },
	}), err
}

// firstStart reports whether the user has neither configured winnow nor skipped connecting a model.
func (a *app) firstStart(ctx context.Context, store history.Settings) bool {
	skipped, err := store.Get(ctx, connectSkippedKey)
	s := a.settings
	return err == nil && skipped == "" && !s.Found && s.Origins["local_servers"].From == "default" && s.Origins["model"].From == "default"
}

func connectCommand(a *app) *cobra.Command {
	form := &connectForm{}
	c := command("connect", "Connect a model: choose an endpoint, its key and a model", 0, 0, func(ctx context.Context, _ []string) error {
		return a.configConnect(ctx, form)
	})
	c.Long = "connect asks for everything that the flags do not specify. Without a terminal, --endpoint and\n--yes are required, and -m if the endpoint has several models."
	form.Bind(c.Flags())
	return c
}

func (a *app) configConnect(ctx context.Context, form *connectForm) error {
	set, err := a.openEndpoints(openOptions{})
	if err != nil {
		return err
	}
	store, err := a.openHistory(ctx)
	if err != nil {
		return err
	}
	form.Connector, err = a.connector(set, store, a.storeModel(store))
	if err != nil {
		return err
	}
	form.Model, form.Print = a.flags.model, func(line string) { a.printErr("%s", line) }
	if isTerminal(a.stdin) && !a.flags.json {
		form.Ask = askOnTerminal(a.stdin.(*os.File), a.stderr) // a terminal is always an *os.File
	}
	if err := form.ReadFlags(plain.Input(ctx, a.stdin)); errors.Is(err, context.Canceled) {
		return err
	} else if err != nil {
		return &usageError{"winnow config connect", err.Error()}
	}
	saved, err := form.Run(ctx)
	switch {
	case has[*missingFlagError](err):
		return &usageError{"winnow config connect", err.Error()}
	case has[*endpoints.Problem](err) && !has[*config.Error](err):
		return errors.New(connectcard.Sentence(err))
	case err != nil:
		return err
	}
	return a.emit(map[string]any{"model": saved.Model, "path": saved.Path, "folder": saved.Folder, "variable": saved.Variable}, connectedLines(saved)...)
}
