package sshserver

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"golang.org/x/crypto/ssh"

	"winnow/assistant/serve"
	"winnow/assistant/serve/servetest"
	"winnow/tui"
	"winnow/tui/usecase"
)

// patience bounds every wait for what has to come.
const patience = time.Minute

// rig is a server over a list of words, with clients in this process.
type rig struct {
	t      testing.TB
	dir    string
	hub    *serve.Hub
	window *servetest.Words
	server *Server
	addr   string
	stop   func() // ends the server and waits for it
	log    lockedBuffer
	keys   map[string]ssh.Signer // by user; "stranger" cannot log in
}

type lockedBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// display is what a terminal shows, and all that was sent to it.
type display struct {
	lockedBuffer
	emu *vt.Emulator
}

func newDisplay(t testing.TB) *display {
	t.Helper()
	d := &display{emu: vt.NewEmulator(80, 24)}
	go func() { _, _ = io.Copy(io.Discard, d.emu) }() // its answers to queries
	t.Cleanup(func() {
		if pipe, ok := d.emu.InputPipe().(io.Closer); ok {
			_ = pipe.Close()
		}
	})
	return d
}

func (d *display) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.text.Write(p)
	return d.emu.Write(p)
}

// frame is what the terminal shows.
func (d *display) frame() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var b strings.Builder
	for y := range d.emu.Height() {
		for x := range d.emu.Width() {
			if cell := d.emu.CellAt(x, y); cell != nil && cell.Content != "" {
				b.WriteString(cell.Content)
			} else {
				b.WriteByte(' ')
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func newRig(t testing.TB, change ...func(*Options)) *rig {
	t.Helper()
	r := &rig{t: t, dir: t.TempDir(), keys: map[string]ssh.Signer{}}
	var lines []string
	for _, user := range []string{"anna", "bert", "stranger"} {
		public, private, err := ed25519.GenerateKey(rand.Reader)
		r.must(err)
		r.keys[user], err = ssh.NewSignerFromKey(private)
		r.must(err)
		key, err := ssh.NewPublicKey(public)
		r.must(err)
		if user != "stranger" {
			lines = append(lines, strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key)))+" "+user)
		}
	}
	r.must(os.WriteFile(r.file("keys"), []byte("# the team\n\n"+strings.Join(lines, "\n")+"\n"), 0o600))
	base := servetest.Start(t, servetest.Options{Dir: r.dir, Model: servetest.Obedient{}, Change: func(o *serve.Options) { o.Wait = time.Millisecond }})
	r.hub, r.window = base.Hub, base.Words
	o := Options{
		Hub: r.hub, History: base.History, Folder: r.dir, HostKey: r.file("host"), AuthorizedKeys: r.file("keys"),
		Log: slog.New(slog.NewTextHandler(&r.log, nil)),
		Screen: func(ctx context.Context, s *serve.Session, t Terminal) (*tui.Model, error) {
			return tui.New(tui.Options{Context: ctx, Parts: tui.Parts{Source: usecase.Source{Work: s.Workspace, Served: s, History: base.History}}, Width: t.Width, Height: t.Height})
		},
		Command: func(who serve.Credential, line string) (func(context.Context, Streams) int, error) {
			if line != "hello" {
				return nil, errors.New("only hello")
			}
			return func(_ context.Context, s Streams) int {
				fmt.Fprintf(s.Out, "hello %s\n%s\n", who.User, strings.Join(s.Environ, " "))
				return 7
			}, nil
		},
	}
	for _, f := range change {
		f(&o)
	}
	var err error
	r.server, err = New(o)
	r.must(err)
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	r.must(err)
	r.addr = l.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- r.server.Serve(ctx, l) }()
	r.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		r.window.Slow.Open()
		r.stop()
	})
	return r
}

func (r *rig) file(name string) string { return filepath.Join(r.dir, name) }

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// dial logs in with the key of a user.
func (r *rig) dial(user string) (*ssh.Client, error) {
	return ssh.Dial("tcp", r.addr, &ssh.ClientConfig{
		User: "whoever", Auth: []ssh.AuthMethod{ssh.PublicKeys(r.keys[user])}, HostKeyCallback: ssh.FixedHostKey(r.server.host.PublicKey()),
	})
}

// client is a logged-in user, until the test ends.
func (r *rig) client(user string) *ssh.Client {
	r.t.Helper()
	c, err := r.dial(user)
	r.must(err)
	r.t.Cleanup(func() { _ = c.Close() })
	return c
}

// screen is the program in a terminal of a client.
type screen struct {
	*ssh.Session
	t    testing.TB
	keys io.Writer
	out  *display
}

// open opens a screen on a connection.
func (r *rig) open(c *ssh.Client) *screen {
	r.t.Helper()
	s := &screen{t: r.t, out: newDisplay(r.t)}
	var err error
	s.Session, err = c.NewSession()
	r.must(err)
	s.keys, err = s.StdinPipe()
	r.must(err)
	s.Stdout, s.Stderr = s.out, s.out
	r.must(s.RequestPty("xterm-256color", 24, 80, ssh.TerminalModes{}))
	r.must(s.Shell())
	s.wait("INPUT")
	return s
}

// press types keys.
func (s *screen) press(keys string) {
	s.t.Helper()
	if _, err := io.WriteString(s.keys, keys); err != nil {
		s.t.Fatal(err)
	}
}

// wait waits for a text on the screen.
func (s *screen) wait(text string) {
	s.t.Helper()
	eventually(s.t, "the screen shows "+text, func() bool { return strings.Contains(s.out.frame(), text) })
}

// eventually waits for a state that no event announces.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it never came that %s", what)
		}
	}
}

// ended waits for the end of a screen or command and returns its status; -1 is none.
func (s *screen) ended() int {
	s.t.Helper()
	done := make(chan error, 1)
	go func() { done <- s.Wait() }()
	select {
	case err := <-done:
		if exit, ok := errors.AsType[*ssh.ExitError](err); ok {
			return exit.ExitStatus()
		}
		if err != nil {
			return -1
		}
		return 0
	case <-time.After(patience):
		s.t.Fatal("the screen does not end")
		return 0
	}
}
