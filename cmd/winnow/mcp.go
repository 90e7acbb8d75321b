package main

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"winnow/adapters/modelfilter/models"
	"winnow/assistant"
	"winnow/assistant/serve/mcp"
	"winnow/assistant/windowlock"
)

func mcpCommand(a *app) *cobra.Command {
	var allowSave bool
	c := command("mcp", "Offer the window's tools to other agents over the Model Context Protocol", 0, 0, func(ctx context.Context, _ []string) error {
		return a.serveMCP(ctx, allowSave)
	})
	c.Long = "mcp is started by an agent, such as Claude Code, Codex or opencode, and talks to it on\n" +
		"standard input and output. Each change is a checkpoint of a session named after\n" +
		"the agent. If the agent can ask the user, a save asks for confirmation; otherwise it is refused."
	c.Example = "claude mcp add winnow -- winnow mcp --env-file /srv/proxy/.env"
	c.Flags().BoolVar(&allowSave, "allow-save", false, "save without confirmation if the agent cannot ask the user")
	return c
}

// serveMCP serves one agent until it closes standard input.
func (a *app) serveMCP(ctx context.Context, allowSave bool) error {
	s, err := a.config()
	if err != nil {
		return err
	}
	store, err := a.openHistory(ctx)
	if err != nil {
		return err
	}
	o := mcp.Options{
		History: store, Settings: sessionSettings(s), AllowSave: allowSave, Redact: a.redactor.Redact, Version: version(), Log: a.logger(),
		HowToAllow: "The rules stay staged; the user saves them in winnow or with winnow rules save, or starts winnow mcp with --allow-save.",
	}
	if s.Window != historyWindow {
		o.Resources = map[string]string{
			"rules":         "the rules of the current provider, each with the models it decides",
			"models":        "the models of the current provider, each with its status and the rule that decides it",
			"model_changes": "the models of all providers that are new, vanished, deprecated or repriced since the user last looked",
		}
	}
	asked := false
	var answers []models.Answer // of the proxy, for the windows of later requests
	n := len(a.closers)         // closers registered from here on run after each request
	o.Open = func(ctx context.Context, write bool) (mcp.Opened, error) {
		access := toRead
		if write {
			access = toWrite
		}
		w, err := a.openWindow(ctx, access)
		if err != nil {
			return mcp.Opened{}, errors.Join(err, a.closeAfter(n))
		}
		for _, answer := range answers {
			w.filter.AcceptModels(ctx, answer)
		}
		if !asked { // once, as the program does at its start
			asked = true
			if answers, err = a.askProxy(ctx, w); err != nil {
				return mcp.Opened{}, errors.Join(err, a.closeAfter(n))
			}
		}
		if w.filter != nil && !write {
			w.filter.ReadModels(ctx)
		}
		use := func(s *assistant.Session) {
			w.agent = strings.TrimPrefix(s.ID(), mcp.SessionPrefix) + windowlock.AgentSuffix
			w.session.Store(s)
		}
		return mcp.Opened{Window: w.window, Journal: w.journal, Use: use, Close: func() error { return a.closeAfter(n) }}, nil
	}
	return mcp.Run(ctx, a.stdin, a.stdout, o)
}
