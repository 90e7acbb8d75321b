package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"winnow/adapters/config"
	"winnow/assistant/serve"
	"winnow/assistant/serve/mcp"
	"winnow/tui"
	"winnow/tui/composer"
	"winnow/tui/sshserver"
	"winnow/tui/usecase"
)

// sshOptions returns the options of the SSH server that do not come from flags.
func (a *app) sshOptions(p *program, agents *mcp.Agents) (sshserver.Options, error) {
	h, err := a.folders()
	return sshserver.Options{
		Hub: p.window.hub.Load(), History: p.store, Folder: a.folder(), HostKey: h.HostKey(), Log: a.logger(), Metrics: p.metrics,
		Screen: func(ctx context.Context, s *serve.Session, t sshserver.Terminal) (*tui.Model, error) {
			return a.remoteScreen(ctx, p, s, t)
		},
		Command: func(who serve.Credential, line string) (func(context.Context, sshserver.Streams) int, error) {
			return a.remoteCommand(&remote{who.User, who, p.window, agents}, line)
		},
	}, err
}

// remote is the user of an SSH connection.
type remote struct {
	user   string
	who    serve.Credential
	window *journaledWindow // the served window
	agents *mcp.Agents
}

// serveAgent serves the agent at the other end of the connection.
func (r *remote) serveAgent(ctx context.Context, a *app, choice mcp.Choice) error {
	o := r.agents.OptionsOf(r.who)
	o.ReadOnly, o.Tools = choice.ReadOnly, choice.Tools
	return r.agents.Run(ctx, a.stdin, a.stdout, r.who, o)
}

// open opens a session for the user, which is closed with the app.
func (r *remote) open(ctx context.Context, a *app) (*serve.Session, error) {
	s, err := r.window.hub.Load().Open(ctx, serve.Join{User: r.user, Role: r.who.Role, Key: r.who.Key, Model: a.flags.model})
	if err == nil {
		s.Use() // the session counts as in use until it is closed
		a.onClose(func() error { return s.Close(context.WithoutCancel(ctx)) })
	}
	return s, err
}

// forRemote returns an app for a remote user. Both apps share the open settings, history and log; environ replaces the
// variables that describe the terminal.
func (a *app) forRemote(environ []string) *app {
	own := slices.DeleteFunc(slices.Clone(a.environ), func(e string) bool {
		name, _, _ := strings.Cut(e, "=")
		return strings.HasPrefix(name, "LC_") || slices.Contains([]string{"TERM", "COLORTERM", "NO_COLOR", "LANG"}, name)
	})
	u := &app{
		environ: append(own, environ...), flags: a.flags, redactor: a.redactor,
		settings: a.settings, home: a.home, store: a.store, log: a.logger(),
	}
	u.flags.noColor, u.flags.plain = false, false
	return u
}

// remoteScreen returns the screen of a remote user. The screen cannot start processes on this machine, or read or write
// files other than the window and the history.
func (a *app) remoteScreen(ctx context.Context, p *program, s *serve.Session, t sshserver.Terminal) (*tui.Model, error) {
	u, set := a.forRemote(t.Environ), a.settings
	u.onScreen = true
	theme, fixed := u.theme(set)
	own := &program{session: s.Session(), store: p.store, window: p.window}
	own.makePane()
	return tui.New(tui.Options{
		Context:        ctx,
		Parts:          tui.Parts{Source: usecase.Source{Work: s.Workspace, Served: s, History: p.store}, Pane: own.pane, Examples: own.examples(ctx)},
		ScreenSettings: screenSettings(set, theme, fixed),
		Width:          t.Width, Height: t.Height, Rebinds: rebinds(set.Keys), Help: u.helpTopics(),
		Redact: a.redactor.Redact, Clipboard: func(string) error { return errors.ErrUnsupported }, Files: composer.MentionSource{None: true},
	})
}

// remoteCommand returns a function that runs a command line of a remote user: ask, rules or mcp.
func (a *app) remoteCommand(r *remote, line string) (func(context.Context, sshserver.Streams) int, error) {
	words, err := config.SplitWords(line)
	if len(words) > 0 && words[0] == "winnow" {
		words = words[1:]
	}
	switch {
	case err != nil:
		return nil, errors.New("unbalanced quotes in the command")
	case len(words) == 0 || !slices.Contains([]string{"ask", "rules", "mcp"}, words[0]):
		return nil, errors.New("only these commands are available: winnow ask …, winnow rules …, winnow mcp")
	case words[0] == "rules" && r.window.filter == nil:
		return nil, errors.New("this server serves the chat history, which has no rules")
	}
	return func(ctx context.Context, s sshserver.Streams) int {
		u := a.forRemote(s.Environ)
		u.ctx, u.remote, u.stdout, u.stderr = ctx, r, s.Out, s.Err
		if words[0] != "rules" {
			u.stdin = s.In
		}
		root := group("winnow", "Ask the assistant, show or change the rules, and offer tools to agents", askCommand(u), rulesCommand(u), mcpCommand(u))
		u.attach(root)
		root.PersistentPreRun = func(cmd *cobra.Command, _ []string) { u.program = cmd.CommandPath() }
		u.flags.bindRemote(root)
		root.SetArgs(words)
		err := root.ExecuteContext(ctx)
		if closed := u.closeAfter(0); err == nil {
			err = closed
		}
		return u.report(err)
	}, nil
}
