package sshserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/serve"
	"winnow/tui"
)

// Options configures a Server. A limit of 0 means the default below.
type Options struct {
	Hub            *serve.Hub
	History        history.Settings // settings in the hub's history, where each user's last session is stored
	Folder         string           // folder of the hub
	HostKey        string           // file with the server's key, created if it does not exist
	AuthorizedKeys string           // file with the keys that may log in
	Version        string           // version of the program that clients see; "" hides it
	Log            *slog.Logger     // nil means no log

	Idle          time.Duration // time without a key press after which a connection ends
	Total         time.Duration // time after which any connection ends
	Connections   int           // maximum number of open connections of logged-in clients
	PerUser       int           // maximum number of open connections of a user; the same limit holds for screens and commands
	Logins        int           // maximum number of connections that have not logged in; 0 means serve.MaxLogins
	AddressLogins int           // maximum number of such connections from one address; 0 means serve.MaxAddressLogins
	Width         int           // maximum number of columns of a screen; 0 means DefaultWidth
	Height        int           // maximum number of rows of a screen; 0 means DefaultHeight

	Metrics *serve.Metrics // may be nil

	// Screen creates the screen of a session.
	Screen func(context.Context, *serve.Session, Terminal) (*tui.Model, error)
	// Command returns a function that runs a command line as a user, at most until ctx
	// ends. The function returns the exit status. The error tells the user why the line is
	// refused.
	Command func(who serve.Credential, line string) (run func(ctx context.Context, s Streams) (status int), err error)

	login, drain, close, stall, interval time.Duration // shortened by tests
}

// The default limits.
const (
	DefaultIdle        = 30 * time.Minute
	DefaultTotal       = 24 * time.Hour
	DefaultConnections = 100
	DefaultPerUser     = 10
	DefaultWidth       = 500 // columns; a frame of this width takes up to 25 MB
	DefaultHeight      = 200
)

const (
	loginTime  = 20 * time.Second // time from the connection to the login
	drainTime  = 10 * time.Second // time for running turns to end when the server ends
	closeTime  = 3 * time.Second  // time for screens and commands to end after drainTime
	stallTime  = 30 * time.Second // time for a client to read what was written
	maxChannel = 4                // maximum number of open channels of a connection
)

// Reasons for the end of a connection, as the user reads them.
var (
	errIdle    = errors.New("no key was pressed for a long time")
	errTotal   = errors.New("the connection reached its time limit")
	errEnding  = errors.New("the server is shutting down")
	errRevoked = errors.New("the key has expired, was removed, or has another role or user now")
	errGone    = errors.New("the client disconnected") // never shown
)

// Server serves SSH connections. Create it with New.
type Server struct {
	// Problems lists the lines of the authorized_keys file that New could not use.
	Problems []string

	opts    Options
	log     *slog.Logger
	host    ssh.Signer
	logins  serve.Logins
	places  *places
	open    sync.Map      // the logged-in connections, as keys
	ending  chan struct{} // closed when Serve is to end
	drained chan struct{} // closed when opts.drain has passed since ending was closed
}

// New returns a server with its host key, which is created at the first start. It checks
// the authorized_keys file.
func New(o Options) (*Server, error) {
	o.Idle, o.Total = cmp.Or(o.Idle, DefaultIdle), cmp.Or(o.Total, DefaultTotal)
	o.Width, o.Height = cmp.Or(o.Width, DefaultWidth), cmp.Or(o.Height, DefaultHeight)
	o.Connections, o.PerUser = cmp.Or(o.Connections, DefaultConnections), cmp.Or(o.PerUser, DefaultPerUser)
	o.login, o.drain, o.close = cmp.Or(o.login, loginTime), cmp.Or(o.drain, drainTime), cmp.Or(o.close, closeTime)
	o.stall, o.interval = cmp.Or(o.stall, stallTime), cmp.Or(o.interval, serve.WatchInterval)
	s := &Server{
		opts: o, log: cmp.Or(o.Log, slog.New(slog.DiscardHandler)), places: newPlaces(o.Connections, o.PerUser),
		ending: make(chan struct{}), drained: make(chan struct{}),
	}
	s.logins.Max, s.logins.MaxPerAddress = o.Logins, o.AddressLogins
	users, problems, err := readUsers(o.AuthorizedKeys, time.Now())
	if err == nil && len(users) == 0 {
		err = errors.Join(fmt.Errorf("there is no usable key in %s", o.AuthorizedKeys), errors.New(strings.Join(problems, "\n")))
	}
	if err != nil {
		return nil, fmt.Errorf("authorized keys: %w", err)
	}
	for _, problem := range problems {
		s.log.Warn("ssh: authorized key ignored", "problem", problem)
	}
	s.Problems = problems
	s.host, err = hostKey(o.HostKey)
	return s, err
}

// Fingerprint returns the fingerprint of the host key, as clients show it.
func (s *Server) Fingerprint() string { return ssh.FingerprintSHA256(s.host.PublicKey()) }

// Serve serves connections from a listener until ctx ends and all connections have ended.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	var connections sync.WaitGroup
	defer connections.Wait()
	defer context.AfterFunc(ctx, func() {
		_ = l.Close() // ends Accept
		close(s.ending)
		s.logins.DropAll()
		time.AfterFunc(s.opts.drain, func() { close(s.drained) })
	})()
	go serve.WatchFiles(ctx, s.opts.interval, []string{s.opts.AuthorizedKeys}, s.endRevoked)
	for {
		conn, err := l.Accept()
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, net.ErrClosed):
			return err
		case err != nil: // for example, because there are too many open files
			s.log.Warn("ssh: accept", "error", err)
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
			}
			continue
		}
		if dropped := s.logins.Begin(conn); dropped != nil {
			s.opts.Metrics.Refused(serve.ServerSSH, "logins")
			s.log.Warn("ssh: connection dropped before login to make room for another", "remote", dropped.RemoteAddr().String())
			_ = dropped.Close()
		}
		connections.Go(func() { s.connection(conn) })
	}
}

// extUser is the key in ssh.Permissions under which the user's credential is stored.
const extUser = "user"

// config returns the configuration of a connection, whose client must log in with a public
// key from the file. log is the log of the connection.
func (s *Server) config(log *slog.Logger) *ssh.ServerConfig {
	c := &ssh.ServerConfig{PublicKeyCallback: func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		users, problems, err := readUsers(s.opts.AuthorizedKeys, time.Now())
		user, known := users[string(key.Marshal())]
		if err == nil && !known {
			err = errors.New("the key is not in the authorized_keys file")
		}
		if err != nil {
			s.opts.Metrics.Refused(serve.ServerSSH, "key")
			log.Warn("ssh: key refused", "key", ssh.FingerprintSHA256(key), "error", err, "left_out", strings.Join(problems, "; "))
			return nil, errors.New("refused") // the client does not see this text
		}
		return &ssh.Permissions{ExtraData: map[any]any{extUser: user}}, nil
	}}
	if c.ServerVersion = "SSH-2.0-winnow"; s.opts.Version != "" {
		c.ServerVersion += "_" + identifier(s.opts.Version)
	}
	c.AddHostKey(s.host)
	return c
}

// connected records that c has logged in or, if loggedIn is false, has ended. It ends a new
// connection whose key was removed during the login.
func (s *Server) connected(c *connection, loggedIn bool) {
	if !loggedIn {
		s.open.Delete(c)
		return
	}
	s.open.Store(c, nil)
	s.endRevoked(true)
}

// endRevoked ends the connections whose key was removed from the file, has expired, or now
// has another role or user. If the file cannot be read, all keys count as removed.
func (s *Server) endRevoked(changed bool) {
	var check []*connection // collected before the keys are read, which may miss a key that is added and used meanwhile
	s.open.Range(func(key, _ any) bool {
		switch c := key.(*connection); {
		case !c.who.Expires.IsZero() && !time.Now().Before(c.who.Expires):
			c.end(errRevoked)
		case changed:
			check = append(check, c)
		}
		return true
	})
	if len(check) == 0 {
		return
	}
	valid := s.validKeys()
	for _, c := range check {
		if !valid[c.who.Key] {
			c.end(errRevoked)
		}
	}
}

// Reload ends the connections whose keys were removed. Serve also does this soon after the
// file changes.
func (s *Server) Reload() { s.endRevoked(true) }

// connection serves a connection until it ends.
func (s *Server) connection(raw net.Conn) {
	log := s.log.With("remote", raw.RemoteAddr().String())
	defer func() {
		if r := recover(); r != nil { // a panic in one connection must not end the others
			log.Error("ssh: panic", "panic", fmt.Sprint(r))
		}
		_ = raw.Close()
		s.logins.End(raw)
	}()
	select {
	case <-s.ending: // DropAll may have run before
		return
	default:
	}
	tooLate := time.AfterFunc(s.opts.login, func() { _ = raw.Close() })
	conn, channels, requests, err := ssh.NewServerConn(timeoutConn{raw, s.opts.stall}, s.config(log))
	if !tooLate.Stop() || err != nil {
		s.opts.Metrics.Refused(serve.ServerSSH, "no_login")
		log.Warn("ssh: login failed", "error", err)
		return
	}
	who, ok := conn.Permissions.ExtraData[extUser].(serve.Credential)
	if !ok || !who.Role.May(assistant.RoleRead) {
		s.opts.Metrics.Refused(serve.ServerSSH, assistant.CodeForbidden)
		log.Warn("ssh: the role of the key cannot open a session", "user", who.User)
		return
	}
	c := &connection{server: s, user: who.User, who: who}
	c.log = log.With("user", c.user)
	if err := s.places.connect(c.user); err != nil {
		c.log.Warn("ssh: connection refused", "error", err)
		s.opts.Metrics.Refused(serve.ServerSSH, "connections")
		s.refuse(conn, channels, requests, err)
		return
	}
	defer s.places.disconnect(c.user)
	s.logins.End(raw)
	c.ctx, c.end = context.WithCancelCause(context.Background())
	c.idle = time.AfterFunc(s.opts.Idle, c.onIdle)
	defer c.idle.Stop()
	defer time.AfterFunc(s.opts.Total, func() { c.end(errTotal) }).Stop()
	go c.refuseRequests(requests)
	go func() { _ = conn.Wait(); c.end(errGone) }()
	go c.endWithServer()
	s.connected(c, true)
	defer s.connected(c, false)
	s.opts.Metrics.AddConnections(serve.ServerSSH, 1)
	defer s.opts.Metrics.AddConnections(serve.ServerSSH, -1)
	c.log.Info("ssh: login")
	c.serve(channels)
	_ = conn.Close()
	for range channels { // drained, so that no sender blocks
	}
	c.log.Info("ssh: connection ended", "why", context.Cause(c.ctx))
	s.countEnd(context.Cause(c.ctx))
}

// connection serves a logged-in client.
type connection struct {
	server *Server
	user   string
	who    serve.Credential
	log    *slog.Logger
	ctx    context.Context // ends with the connection, with the reason as its cause
	end    context.CancelCauseFunc
	idle   *time.Timer

	mu       sync.Mutex // guards the fields below
	open     int        // channels
	commands int        // running commands
}

// touch restarts the idle timer.
func (c *connection) touch() { c.idle.Reset(c.server.opts.Idle) }

// onIdle ends the connection unless a command is running, which needs no key presses.
func (c *connection) onIdle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.commands > 0 {
		c.touch()
		return
	}
	c.end(errIdle)
}

// count adds to the numbers of open channels and running commands. It returns the number of
// open channels.
func (c *connection) count(channels, commands int) (open int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open += channels
	c.commands += commands
	return c.open
}

// endWithServer ends the connection when the server ends: at once if no channel is open,
// otherwise after Options.drain at the latest.
func (c *connection) endWithServer() {
	select {
	case <-c.ctx.Done():
		return
	case <-c.server.ending:
	}
	if c.count(0, 0) == 0 {
		c.end(errEnding)
	}
	select {
	case <-c.ctx.Done():
	case <-c.server.drained:
		c.end(errEnding)
	}
}

// refuseRequests refuses requests that concern the whole connection, such as port
// forwarding. Clients also send requests just to see whether the connection is alive.
func (c *connection) refuseRequests(requests <-chan *ssh.Request) {
	for r := range requests {
		if r.Type != "keepalive@openssh.com" && r.Type != "no-more-sessions@openssh.com" {
			c.refused(r.Type, "request")
		}
		if r.WantReply {
			_ = r.Reply(false, nil) // fails only if the connection is gone
		}
	}
}

// refused logs and counts what the client was not allowed to do.
func (c *connection) refused(what, reason string) {
	c.server.opts.Metrics.Refused(serve.ServerSSH, reason)
	c.log.Warn("ssh: refused", "what", identifier(what))
}

// serve runs channels until the connection ends, and then waits up to Options.close for them
// to end.
func (c *connection) serve(channels <-chan ssh.NewChannel) {
	var running sync.WaitGroup
	for c.ctx.Err() == nil {
		select {
		case <-c.ctx.Done():
		case n, ok := <-channels:
			switch {
			case !ok:
				c.end(errGone)
			case n.ChannelType() != "session":
				c.refused(n.ChannelType(), "request")
				_ = n.Reject(ssh.Prohibited, "not allowed")
			case c.count(0, 0) == maxChannel || !c.server.places.openChannel(c.user):
				c.refused("channel", "channels")
				_ = n.Reject(ssh.ResourceShortage, "too many screens and commands are open: close one first")
			default:
				c.count(1, 0)
				running.Go(func() {
					defer c.server.places.closeChannel(c.user)
					c.channel(n)
					if c.count(-1, 0) == 0 {
						select {
						case <-c.server.ending:
							c.end(errEnding)
						default:
						}
					}
				})
			}
		}
	}
	ended := make(chan struct{})
	go func() { running.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(c.server.opts.close):
	}
}
