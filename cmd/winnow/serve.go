package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"winnow/assistant/serve"
	"winnow/assistant/serve/api"
	"winnow/assistant/serve/mcp"
	"winnow/tui/sshserver"
)

func serveCommand(a *app) *cobra.Command {
	var f listenFlags
	c := command("serve", "Serve sessions to other terminals, over SSH, and to other programs, over HTTP", 0, 0, func(ctx context.Context, _ []string) error {
		return a.serve(ctx, f)
	})
	c.Long = "serve opens the window of this folder to other users until it is interrupted. They all\n" +
		"work in it at the same time, each in a separate session.\n\n" +
		"With --ssh, everyone with a key in --authorized-keys gets this program in their terminal.\n" +
		"The comment after a key names the user, who becomes the author of what they send: the filter\n" +
		"line u'anna' finds the messages of anna. There is no shell and no forwarding; the only\n" +
		"commands are ask, rules and mcp. ask reads standard input if it has no message or if its\n" +
		"last argument is -.\n\n" +
		"With --http, programs open sessions, send messages and read the events of each turn as\n" +
		"server-sent events. GET /openapi.json describes the requests. Every request needs a\n" +
		"token: winnow token add creates one for a user with a role. The token in --token-file has\n" +
		"the role admin; if there is no token at all, an admin token is created and printed once.\n" +
		"The role of an SSH key is an option of its line, winnow-role=\"propose\"; the default is save.\n" +
		"An unused session is closed after --session-idle; to continue it, open it again with its id.\n\n" +
		"Keys, tokens and the certificate are reloaded when they change or after SIGHUP. Under\n" +
		"systemd, winnow serve reports its state and uses the sockets named http, ssh and metrics that\n" +
		"systemd has opened. /readyz checks history and .env; --metrics also works without --http.\n\n" +
		"Agents join the same window by the Model Context Protocol: at the address /mcp with a token,\n" +
		"as ssh SERVER winnow mcp with a key, or as winnow mcp in this folder."
	c.Example = "winnow serve --ssh :2222 --authorized-keys team.keys\n" +
		"ssh -p 2222 server.example\n" +
		"git diff | ssh -p 2222 server.example winnow ask what changed here? -\n" +
		"winnow serve --http 127.0.0.1:7777\n" +
		"winnow serve --http :7777 --cert cert.pem --key key.pem --token-file token"
	f.Bind(c.Flags())
	a.flags.command = c.Flags()
	return c
}

// serve serves sessions until ctx ends.
func (a *app) serve(ctx context.Context, f listenFlags) (err error) {
	if err := f.Check(); err != nil {
		return &usageError{"winnow serve", err.Error()}
	}
	a.serving = true
	if _, err := a.config(); err != nil {
		return err
	}
	a.reopenLog()
	if f.manager, err = findServiceManager(a.environ); err != nil {
		return err
	}
	p, err := a.openHub(ctx, f.Limits)
	if err != nil {
		return err
	}
	hub := p.window.hub.Load()
	defer a.recordChanges(p)()
	defer func() { err = errors.Join(err, hub.Close(context.WithoutCancel(ctx))) }()
	tokens, err := a.tokens()
	if err != nil {
		return err
	}
	agents, err := a.agents(hub, p.metrics, f.Agents)
	if err != nil {
		return err
	}
	ssh, err := a.sshOptions(p, agents)
	if err != nil {
		return err
	}
	kept, err := a.inJournalFolder("responses")
	if err != nil {
		return err
	}
	servers, err := f.Open(ctx, ssh, api.Options{Hub: hub, Agents: agents, Metrics: p.metrics, Ready: p.ready, Tokens: tokens, StoredResponses: kept, User: cmp.Or(a.userName(), "admin"), Version: version(), Log: a.logger(), Idle: a.settings.SessionIdle})
	if wide, ok := errors.AsType[*sshserver.ModeError](err); ok {
		err = advise(err, "chmod %o %s", wide.Mode, wide.Path)
	}
	if err != nil {
		return err
	}
	defer servers.Close()
	for _, problem := range servers.Problems {
		a.printErr("%s", problem)
	}
	if err := a.emit(servers.Started, servers.Lines...); err != nil {
		return err
	}
	end, err := a.serveLocalAgents(ctx, agents)
	if err != nil {
		return err
	}
	defer end()
	a.onHangup(func() { a.reloadServers(servers) })
	a.tell(f.manager, "READY=1")
	defer context.AfterFunc(ctx, func() { a.tell(f.manager, "STOPPING=1") })()
	return servers.Serve(ctx)
}

// ready returns why the history or the .env file cannot be used, or nil if both can.
func (p *program) ready(ctx context.Context) error {
	_, err := p.store.Get(ctx, "ready")
	if filter := p.window.filter; err == nil && filter != nil && filter.FileExists() {
		var file *os.File
		if file, err = os.Open(filter.EnvFile()); err == nil {
			err = file.Close()
		}
	}
	return err
}

// tell reports the state of the service to the service manager, and logs it.
func (a *app) tell(m serviceManager, state string) {
	a.logger().Info("state of the service", "state", state)
	if err := m.notify(state); err != nil {
		a.logger().Warn("service manager not notified", "state", state, "error", err)
	}
}

// reloadServers reads the certificate, the keys and the tokens again. Without SIGHUP, this
// happens within a second of a change.
func (a *app) reloadServers(servers *listeners) {
	a.logger().Info("reload")
	for _, reload := range servers.reload {
		reload()
	}
}

// serveLocalAgents lets winnow mcp in this folder join the hub, until end is called.
func (a *app) serveLocalAgents(ctx context.Context, agents *mcp.Agents) (end func(), err error) {
	path, err := a.hubDocument()
	if err != nil {
		return nil, err
	}
	serving, cancel := context.WithCancel(context.WithoutCancel(ctx)) // end cancels it, so that running calls have as long to finish as running turns
	wait, err := agents.ServeLocal(serving, path)
	if err != nil {
		cancel()
		return nil, err
	}
	return func() { cancel(); wait() }, nil
}

// printAPI prints the OpenAPI document that the server returns for GET /openapi.json.
func (a *app) printAPI(context.Context, []string) error {
	document, err := api.Document(version())
	if err == nil {
		_, err = fmt.Fprintf(a.stdout, "%s\n", document)
	}
	return err
}

// openHub opens the window of this folder to any number of sessions.
func (a *app) openHub(ctx context.Context, limits serve.Limits) (*program, error) {
	p := &program{}
	var err error
	if p.endpoints, err = a.openEndpoints(openOptions{}); err != nil {
		return nil, err
	}
	if p.store, err = a.openHistory(ctx); err != nil {
		return nil, err
	}
	model, err := a.pickModel(ctx, p, "", true)
	if err != nil {
		return nil, err
	}
	a.printErr("%s", p.notice)
	if p.window, err = a.openWindow(ctx, toWrite); err != nil {
		return nil, err
	}
	p.window.askProxy(ctx, p.endpoints)
	if p.window.recovered {
		a.printErr("rules of an earlier run are still unsaved: winnow rules diff shows them")
	}
	o := serve.Options{Registry: p.endpoints.Registry, History: p.store, Folder: a.folder(), Window: p.window.name, Limits: limits, Metrics: serve.NewMetrics(version())}
	if o.Session, err = a.sessionOptions(p, model); err != nil {
		return nil, err
	}
	hub := serve.NewHub(o)
	p.metrics = o.Metrics
	p.window.hub.Store(hub)
	go followOthers(ctx, p.window.filter, p.window.journal, a.logger(), hub.Followed)
	go a.followHistory(ctx, p.store, hub)
	return p, nil
}
