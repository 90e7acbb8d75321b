package sshserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"winnow/assistant"
	"winnow/assistant/serve"
	"winnow/tui"
	"winnow/tui/terminal"
)

const (
	// graceTime is how long a screen may take to end after it has been told to.
	graceTime = 500 * time.Millisecond
	// saveTime is how long storing the draft and ending the turn may take.
	saveTime = 2 * time.Second
	// turnPoll is how often a server that is shutting down checks whether a turn has ended.
	turnPoll = 50 * time.Millisecond
)

// screen runs the user's screen in a terminal.
func (c *channel) screen(t Terminal) error {
	session, err := c.session()
	if err != nil {
		return err
	}
	defer session.Use()()
	ctx, done := context.WithCancel(context.Background()) // ends with the screen
	defer done()
	model, err := c.server.opts.Screen(ctx, session, t)
	if err != nil {
		return errors.Join(err, session.Close(context.Background()))
	}
	p := tea.NewProgram(model,
		tea.WithInput(&input{c}), tea.WithOutput(c.writer(c.ch)), tea.WithWindowSize(t.Width, t.Height),
		// SSH_TTY makes Bubble Tea send fewer queries: some terminals print queries that
		// they do not understand.
		tea.WithEnvironment(append(t.Environ, "SSH_TTY=ssh")), tea.WithColorProfile(colorprofile.Env(t.Environ)),
		tea.WithoutSignalHandler(), tea.WithFilter(stayHere),
	)
	log := c.log.With("session", session.ID())
	log.Info("ssh: screen", "kind", "screen")
	c.server.opts.Metrics.Called(serve.ServerSSH, "screen", "run")
	go c.watch(ctx, p, session)
	go c.forward(ctx, p)
	_, err = p.Run()
	done()
	end := terminal.ClearStatus
	if err != nil { // the screen may not have cleaned up
		end = terminal.LeaveScreen
	}
	_, _ = io.WriteString(c.writer(c.ch), end)
	if errors.Is(err, tea.ErrProgramKilled) && c.ctx.Err() != nil && !errors.Is(err, tea.ErrProgramPanic) {
		err = nil // the screen was ended on purpose
	}
	saving, cancel := context.WithTimeout(context.Background(), saveTime)
	defer cancel()
	unstored := errors.Join(model.StoreDraft(saving), c.leave(saving, session))
	if why := context.Cause(c.ctx); why != nil && !errors.Is(why, errGone) {
		kept := "your draft and the conversation are stored"
		if unstored != nil {
			kept = "your draft might not have been stored"
		}
		_, _ = fmt.Fprintf(c.writer(c.ch.Stderr()), "winnow: %v; %s\n", why, kept)
	}
	err = errors.Join(err, model.Err(), unstored)
	return err
}

// stayHere keeps the screen from suspending the server.
func stayHere(_ tea.Model, msg tea.Msg) tea.Msg {
	if _, suspend := msg.(tea.SuspendMsg); suspend {
		return tui.Noticed{Err: errors.New("winnow cannot be suspended over SSH; to suspend the ssh client, press enter ~ ctrl+z")}
	}
	return msg
}

// lastKey returns the key of the history setting that stores the user's last session.
func (c *channel) lastKey() string {
	return "ssh session:" + c.server.opts.Folder + "\x00" + c.user
}

// session opens the session that the user had last. It opens a new session if that session is
// already open, no longer exists, or needs another role.
func (c *channel) session() (*serve.Session, error) {
	hub, ctx := c.server.opts.Hub, context.WithoutCancel(c.ctx)
	last, err := c.server.opts.History.Get(ctx, c.lastKey())
	if err != nil { // a new session would take the place of the last one
		return nil, err
	}
	s, err := hub.Open(ctx, serve.Join{User: c.user, Role: c.who.Role, Key: c.who.Key, Session: last})
	if errors.Is(err, serve.ErrOpen) || errors.Is(err, serve.ErrNoSession) || errors.As(err, new(*assistant.RoleError)) {
		s, err = hub.Open(ctx, serve.Join{User: c.user, Role: c.who.Role, Key: c.who.Key})
	}
	if err != nil {
		return nil, err
	}
	if err := c.server.opts.History.Set(ctx, c.lastKey(), s.ID()); err != nil {
		return nil, errors.Join(err, s.Close(ctx))
	}
	return s, nil
}

// leave ends the session and stores it as the user's last session.
func (c *channel) leave(ctx context.Context, s *serve.Session) error {
	return errors.Join(s.Close(ctx), c.server.opts.History.Set(ctx, c.lastKey(), s.ID()))
}

// watch ends the screen when the connection or the server ends, by force if the screen does
// not react. A running turn delays the end of the server; see endWithServer.
func (c *channel) watch(ctx context.Context, p *tea.Program, s *serve.Session) {
	select {
	case <-ctx.Done():
		return
	case <-c.ctx.Done():
	case <-c.server.ending:
		for s.Session().Busy() && c.ctx.Err() == nil && ctx.Err() == nil {
			time.Sleep(turnPoll)
		}
		c.end(errEnding)
	}
	go p.Quit() // in the background, because Quit waits for the loop, which may be blocked
	select {
	case <-ctx.Done():
	case <-time.After(graceTime):
		_ = c.ch.Close() // unblocks whatever waits for the client
		p.Kill()
	}
}

// forward sends the sizes of the terminal to the screen.
func (c *channel) forward(ctx context.Context, p *tea.Program) {
	for {
		select {
		case <-ctx.Done():
			return
		case t := <-c.sizes:
			p.Send(tea.WindowSizeMsg{Width: t.Width, Height: t.Height})
		}
	}
}

// input reads what the user types. Each read restarts the idle timer; a failed read ends the
// channel.
type input struct{ c *channel }

// Read implements io.Reader.
func (i *input) Read(p []byte) (int, error) {
	n, err := i.c.ch.Read(p)
	i.c.touch()
	if err != nil {
		i.c.end(errGone)
	}
	return n, err
}
