package main

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"winnow/adapters/modelfilter"
	"winnow/adapters/modelfilter/models"
	"winnow/assistant"
	"winnow/assistant/serve"
	"winnow/assistant/serve/mcp"
	"winnow/assistant/windowlock"
)

func mcpCommand(a *app) *cobra.Command {
	var choice mcp.Choice
	c := command("mcp", "Offer the window's tools to other agents over the Model Context Protocol", 0, 0, func(ctx context.Context, _ []string) error {
		err := a.serveMCP(ctx, choice)
		if unknown, ok := errors.AsType[*mcp.UnknownToolError](err); ok {
			return &usageError{"winnow mcp", "--tools: " + unknown.Error()}
		}
		return err
	})
	c.Long = "mcp is started by an agent, such as Claude Code, Codex or opencode, and talks to it on\n" +
		"standard input and output. Each change adds a checkpoint to a session named after\n" +
		"the agent. A save needs the user's confirmation; if the agent cannot ask for it, the save is refused.\n\n" +
		"If winnow serve runs for this window, the agent joins it: people and agents then see each\n" +
		"other's changes at once. Agents elsewhere use ssh SERVER winnow mcp, or the address /mcp of\n" +
		"winnow serve --http with a token; there, the role of the key or token decides what they may do."
	c.Example = "claude mcp add winnow -- winnow mcp --env-file /srv/proxy/.env"
	if a.remote == nil {
		c.Flags().BoolVar(&choice.AllowSave, "allow-save", false, "save without confirmation if the agent cannot ask the user")
	}
	c.Flags().BoolVar(&choice.ReadOnly, "read-only", false, "offer only the tools that change nothing")
	c.Flags().StringSliceVar(&choice.Tools, "tools", nil, "offer only the tools of this LIST, separated by commas")
	return c
}

// agentOptions returns the options that all connections of agents have in common.
func (a *app) agentOptions() (mcp.Options, error) {
	s, err := a.config()
	if err != nil {
		return mcp.Options{}, err
	}
	o := mcp.Options{Settings: sessionSettings(s), Redact: a.redactor.Redact, Version: version(), Log: a.logger()}
	if s.Window != historyWindow {
		o.ExtraTools, o.Prompts = modelfilter.Queries, modelfilter.Prompts()
		o.Resources = map[string]string{
			"rules":         "the rules of the current provider, each with the models it affects",
			"models":        "the models of the current provider, each with its status and the rule behind it",
			"model_changes": "the models of all providers that are new, vanished, deprecated or repriced since the user last looked",
		}
	}
	return o, nil
}

// agents returns the mcp.Agents that serve hub, with at most perUser connected agents for each user.
func (a *app) agents(hub *serve.Hub, metrics *serve.Metrics, perUser int) (*mcp.Agents, error) {
	o, err := a.agentOptions()
	o.HowToAllow = "The rules stay staged; a user with the role save saves them."
	return mcp.NewAgents(mcp.AgentOptions{Options: o, Hub: hub, Idle: a.settings.SessionIdle, PerUser: perUser, Metrics: metrics}), err
}

// hubDocument returns the path of the document through which agents on this machine find the hub of this window.
func (a *app) hubDocument() (string, error) { return a.inJournalFolder("hub") }

// inJournalFolder returns the path of a file in the folder of the window's journal.
func (a *app) inJournalFolder(name string) (string, error) {
	s, err := a.config()
	if err != nil {
		return "", err
	}
	h, err := a.folders()
	if err != nil {
		return "", err
	}
	journal := h.HistoryJournal()
	if s.Window != historyWindow {
		journal = h.Journal(a.envFile())
	}
	return filepath.Join(filepath.Dir(journal), name), nil
}

// serveMCP serves one agent until it closes standard input.
func (a *app) serveMCP(ctx context.Context, choice mcp.Choice) error {
	if a.remote != nil {
		return a.remote.serveAgent(ctx, a, choice)
	}
	path, err := a.hubDocument()
	if err != nil {
		return err
	}
	if err := mcp.Relay(ctx, path, a.stdin, a.stdout, choice); !errors.Is(err, mcp.ErrNoHub) {
		return err
	}
	o, err := a.agentOptions()
	if err != nil {
		return err
	}
	store, err := a.openHistory(ctx)
	if err != nil {
		return err
	}
	o.History, o.AllowSave, o.ReadOnly, o.Tools = store, choice.AllowSave, choice.ReadOnly, choice.Tools
	o.HowToAllow = "The rules stay staged; the user saves them in winnow or with winnow rules save, or starts winnow mcp with --allow-save."
	a.afterSave(&journaledWindow{}) // before n is set, because the command of after_save may outlast a request
	asked := false
	var answers []models.Answer // the proxy's answers, for the windows of later requests
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
		if !asked { // only once, as when the program starts
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
