package sshserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/crypto/ssh"

	"winnow/assistant/serve"
	"winnow/assistant/windowlock"
	"winnow/checkpoint/privatefile"
	"winnow/tui"
)

func TestTheHostKeyIsMadeOnce(t *testing.T) {
	if !privatefile.HasModes {
		t.Skip("modes have no effect on this system")
	}
	path := t.TempDir() + "/state/key"
	first, err := hostKey(path)
	if err != nil {
		t.Fatal(err)
	}
	again, err := hostKey(path)
	if err != nil || !bytes.Equal(first.PublicKey().Marshal(), again.PublicKey().Marshal()) || first.PublicKey().Type() != "ssh-ed25519" {
		t.Errorf("another key, or none: %v", err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	for _, mode := range []fs.FileMode{0o640, 0o604, 0o620, 0o666} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := hostKey(path); !is[*ModeError](err) {
			t.Errorf("mode %o: %v", mode, err)
		}
	}
	if err := errors.Join(os.Chmod(path, 0o600), os.WriteFile(path, []byte("no key"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := hostKey(path); err == nil {
		t.Error("a damaged key is used, or replaced")
	}
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

func TestTheFileOfKeysIsChecked(t *testing.T) {
	r := newRig(t)
	raw, err := os.ReadFile(r.file("keys"))
	r.must(err)
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	line := lines[len(lines)-1]
	for text, want := range map[string]string{
		line + "\r\n": "", "  " + line: "", line + " and more": "",
		"ssh-ed25519 AAAA bert":                           "line 1: this is not a public key",
		line + "\nhello":                                  "line 2: this is not a public key",
		strings.TrimSuffix(line, " bert"):                 "no comment",
		`command="ls" ` + line:                            "line 1: the option command is not supported",
		`from="10.*" ` + line:                             "line 1: the option from is not supported",
		`winnow-role="king" ` + line:                      "line 1: there is no role",
		`winnow-role="" ` + line:                          "line 1: winnow-role has no value",
		`expiry-time="soon" ` + line:                      "line 1: expiry-time",
		"restrict,pty " + line:                            "",
		`winnow-role="propose",no-pty-is-unknown ` + line: "line 1: the option no-pty-is-unknown is not supported",
		strings.Repeat("#", 2<<20):                        "larger than",
	} {
		path := r.file("some")
		r.must(os.WriteFile(path, []byte(text), 0o600))
		users, problems, err := readUsers(path, time.Now())
		if all := strings.Join(problems, "\n") + fmt.Sprint(err); want == "" && (err != nil || problems != nil || len(users) != 1) || !strings.Contains(all, want) {
			t.Errorf("%.40q: %v, %q, %v; want %q", text, users, problems, err, want)
		}
	}
	r.must(os.Chmod(r.file("some"), 0o666))
	if _, _, err := readUsers(r.file("some"), time.Now()); privatefile.HasModes && !is[*ModeError](err) {
		t.Errorf("a file that others can change: %v", err)
	}
}

func TestWhoHasNoKeyIsRefused(t *testing.T) {
	r := newRig(t)
	if _, err := r.dial("stranger"); err == nil || strings.Contains(err.Error(), "file") {
		t.Errorf("a stranger: %v", err)
	}
	for name, methods := range map[string][]ssh.AuthMethod{
		"nothing":    nil,
		"a password": {ssh.Password("winnow")},
		"answers":    {ssh.KeyboardInteractive(func(string, string, []string, []bool) ([]string, error) { return nil, nil })},
	} {
		_, err := ssh.Dial("tcp", r.addr, &ssh.ClientConfig{User: "anna", Auth: methods, HostKeyCallback: ssh.FixedHostKey(r.server.host.PublicKey())})
		if err == nil {
			t.Errorf("%s logs in", name)
		}
	}
	r.client("anna")
	r.must(os.WriteFile(r.file("keys"), ssh.MarshalAuthorizedKey(r.keys["bert"].PublicKey()), 0o600)) // without a comment
	if _, err := r.dial("anna"); err == nil {
		t.Error("a file that cannot be read lets everybody in")
	}
	if log := r.log.String(); !strings.Contains(log, ssh.FingerprintSHA256(r.keys["stranger"].PublicKey())) || !strings.Contains(log, "no comment") {
		t.Errorf("the log: %s", log)
	}
}

// TestEverythingElseIsRefused asks for what a client may not have.
func TestEverythingElseIsRefused(t *testing.T) {
	r := newRig(t)
	c := r.client("anna")
	for _, kind := range []string{"direct-tcpip", "direct-streamlocal@openssh.com", "x11", "auth-agent@openssh.com", "tun@openssh.com", "forwarded-tcpip"} {
		if _, _, err := c.OpenChannel(kind, nil); err == nil {
			t.Errorf("a channel of %s is opened", kind)
		}
	}
	for _, kind := range []string{"tcpip-forward", "cancel-tcpip-forward", "streamlocal-forward@openssh.com", "hostkeys-prove-00@openssh.com"} {
		if ok, _, err := c.SendRequest(kind, true, nil); ok || err != nil {
			t.Errorf("%s: %v, %v", kind, ok, err)
		}
	}
	s, err := c.NewSession()
	r.must(err)
	text := func(values ...string) (out []byte) {
		for _, v := range values {
			out = append(out, ssh.Marshal(struct{ V string }{v})...)
		}
		return out
	}
	for _, q := range []struct {
		kind    string
		payload []byte
		want    bool
	}{
		{"auth-agent-req@openssh.com", nil, false},
		{"x11-req", nil, false},
		{"subsystem", text("sftp"), false},
		{"env", text("LD_PRELOAD", "/tmp/x"), false},
		{"env", text("TERM", "xterm"), false},
		{"env", text("LANG", "C;touch it"), false},
		{"env", text("LANG", "C\nX=1"), false},
		{"env", text("LANG", strings.Repeat("x", 100)), false},
		{"env", text("LANG", "de_DE.UTF-8"), true},
		{"env", text("COLORTERM", "truecolor"), true},
		{"window-change", ssh.Marshal(struct{ A, B, C, D uint32 }{80, 24, 0, 0}), false}, // there is no terminal
		{"pty-req", []byte("short"), false},
		{"shell", []byte("x"), false},
		{"exec", []byte("x"), false},
		{"exec", text("hello"), true},
		{"exec", text("hello"), false}, // one for a channel
		{"shell", nil, false},
	} {
		if ok, err := s.SendRequest(q.kind, true, q.payload); err == nil && ok != q.want { // after the command the channel may be closed
			t.Errorf("%s %q: %v", q.kind, q.payload, ok)
		}
	}
	for _, what := range []string{"direct-tcpip", "tcpip-forward", "auth-agent-req@openssh.com", "subsystem"} {
		if !strings.Contains(r.log.String(), "what="+what) {
			t.Errorf("%s is not logged", what)
		}
	}
}

func TestACommandRunsAsItsUser(t *testing.T) {
	r := newRig(t)
	s, err := r.client("bert").NewSession()
	r.must(err)
	r.must(s.Setenv("LANG", "de_DE.UTF-8"))
	out, err := s.Output("hello")
	if exit := (*ssh.ExitError)(nil); !errors.As(err, &exit) || exit.ExitStatus() != 7 || string(out) != "hello bert\nLANG=de_DE.UTF-8\n" {
		t.Errorf("%v, %q", err, out)
	}
	s, err = r.client("bert").NewSession()
	r.must(err)
	all, err := s.CombinedOutput("cat /etc/passwd")
	if exit := (*ssh.ExitError)(nil); !errors.As(err, &exit) || exit.ExitStatus() != 2 || string(all) != "winnow: only hello\n" {
		t.Errorf("%v, %q", err, all)
	}
}

func TestTheSizeIsBounded(t *testing.T) {
	for _, c := range []struct{ w, h, wantW, wantH uint32 }{
		{80, 24, 80, 24}, {0, 0, 80, 24}, {0, 50, 80, 24}, {1 << 31, 1<<32 - 1, DefaultWidth, DefaultHeight}, {1, 1, 1, 1},
	} {
		var term Terminal
		if term.setSize(c.w, c.h, DefaultWidth, DefaultHeight); term.Width != int(c.wantW) || term.Height != int(c.wantH) {
			t.Errorf("%dx%d is %dx%d", c.w, c.h, term.Width, term.Height)
		}
	}
}

// TestALostConnectionLeavesDraftAndTurn cuts the connection of a turn that has the window:
// it locks nobody, the draft comes back, and so does the conversation.
func TestALostConnectionLeavesDraftAndTurn(t *testing.T) {
	r := newRig(t)
	c := r.client("anna")
	anna := r.open(c)
	anna.press("call add_word cat; slow")
	anna.press("\n")
	r.window.Slow.Wait(t)
	if h, held := r.hub.Holder(); !held || h.User != "anna" {
		t.Fatalf("the window is held by %+v", h)
	}
	anna.press("a draft")
	anna.wait("a draft")
	bert, err := r.hub.Open(t.Context(), serve.Join{User: "bert"})
	r.must(err)
	if refs, err := bert.Match(t.Context(), "u'anna'"); err != nil || len(refs) != 1 {
		t.Errorf("u'anna' matches %v, %v; want the pair of the running turn", refs, err)
	}
	edit := func() error { return bert.Edit("add dog", func() error { return r.window.Type("dog") }) }
	if err := edit(); !is[*windowlock.LockedError](err) {
		t.Errorf("bert changes the window in anna's turn: %v", err)
	}
	r.must(c.Close())
	eventually(t, "the session is closed", func() bool { return len(r.hub.Sessions()) == 1 })
	eventually(t, "bert may change the window", func() bool { return edit() == nil })
	if want := []string{"one", "cat", "dog"}; !slices.Equal(r.window.Words(), want) {
		t.Errorf("the words are %q, want %q", r.window.Words(), want)
	}
	again := r.open(r.client("anna"))
	again.wait("a draft")
	again.wait("call add_word") // the interrupted pair
	second := r.open(r.client("anna"))
	if sessions := r.hub.Sessions(); len(sessions) != 3 || sessions[1].User() != "anna" || sessions[2].User() != "anna" {
		t.Errorf("anna has not two sessions")
	}
	second.press("\x11") // ctrl+q
	if status := second.ended(); status != 0 {
		t.Errorf("quitting ends with %d", status)
	}
}

func TestTheSizeChanges(t *testing.T) {
	r := newRig(t)
	s := r.open(r.client("anna"))
	for range 50 { // those in between may be left out
		r.must(s.WindowChange(10, 20))
		r.must(s.WindowChange(12, 40))
	}
	s.press("four words of text")
	s.wait("words of text")
	r.must(s.WindowChange(3, 30))
	s.wait("terminal too small")
}

func TestNothingIsSuspended(t *testing.T) {
	if n, ok := stayHere(nil, tea.SuspendMsg{}).(tui.Noticed); !ok || n.Err == nil {
		t.Error("a screen suspends the server")
	}
	if _, ok := stayHere(nil, tea.QuitMsg{}).(tea.QuitMsg); !ok {
		t.Error("a screen cannot quit")
	}
}

func TestLimitsEndAConnection(t *testing.T) {
	for name, c := range map[string]struct {
		limit func(*Options)
		want  string
	}{
		"idle":  {func(o *Options) { o.Idle = 300 * time.Millisecond }, errIdle.Error()},
		"total": {func(o *Options) { o.Total = time.Second }, errTotal.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			r, counted := measured(t, c.limit)
			s := r.open(r.client("anna"))
			s.ended()
			if out := s.out.String(); !strings.Contains(out, c.want) || !strings.Contains(out, "\x1b[?1049l") {
				t.Errorf("the terminal is left with %q", out[max(0, len(out)-300):])
			}
			eventually(t, "the session is closed", func() bool { return len(r.hub.Sessions()) == 0 })
			counted(fmt.Sprintf(`winnow_ended_total{reason=%q,server="ssh"} 1`, name))
		})
	}
}

// TestAClientThatDoesNotReadIsDisconnected: what waits for it may have the window.
func TestAClientThatDoesNotReadIsDisconnected(t *testing.T) {
	ended := make(chan struct{})
	r := newRig(t, func(o *Options) {
		o.stall, o.close = 100*time.Millisecond, 100*time.Millisecond
		o.Command = func(serve.Credential, string) (func(context.Context, Streams) int, error) {
			return func(_ context.Context, s Streams) int {
				for {
					if _, err := s.Out.Write(make([]byte, 1<<16)); err != nil {
						close(ended)
						return 1
					}
				}
			}, nil
		}
	})
	ch, requests, err := r.client("anna").OpenChannel("session", nil)
	r.must(err)
	go ssh.DiscardRequests(requests)
	if ok, err := ch.SendRequest("exec", true, ssh.Marshal(struct{ L string }{"all"})); !ok || err != nil {
		t.Fatal(ok, err)
	}
	select {
	case <-ended:
	case <-time.After(patience):
		t.Error("a client that does not read stays")
	}
}

// TestTheServerEndsInOrder ends it while one screen is idle and a turn of another runs.
func TestTheServerEndsInOrder(t *testing.T) {
	r := newRig(t)
	idle, busy := r.open(r.client("anna")), r.open(r.client("bert"))
	busy.press("call add_word cat; slow")
	busy.press("\n")
	r.window.Slow.Wait(t)
	stopped := make(chan struct{})
	go func() { defer close(stopped); r.stop() }()
	idle.ended()
	if !strings.Contains(idle.out.String(), errEnding.Error()) {
		t.Errorf("the idle screen ends with %q", idle.out.String())
	}
	select {
	case <-stopped:
		t.Error("the server does not wait for the turn")
	default:
	}
	busy.press("it goes on")
	busy.wait("it goes on")
	r.window.Slow.Open()
	busy.ended()
	<-stopped
	after, err := r.hub.Open(t.Context(), serve.Join{User: "bert"})
	r.must(err)
	if refs, err := after.Match(t.Context(), "c'done'"); err != nil || len(refs) != 1 {
		t.Errorf("the answer of the turn is in %v, %v", refs, err)
	}
	if _, err := r.dial("anna"); err == nil {
		t.Error("somebody logs in after the end")
	}
}

// The terminal of a client has the status of the program, and none when it has ended.
func TestTheStatusOfAScreen(t *testing.T) {
	r := newRig(t)
	s := r.open(r.client("anna"))
	s.press("call add_word cat; slow")
	s.press("\n")
	r.window.Slow.Wait(t)
	reported := func(state string) {
		t.Helper()
		eventually(t, "the status is "+state, func() bool { return strings.Contains(s.out.String(), "\x1b]7501;state="+state) })
	}
	reported("working")
	r.window.Slow.Open()
	reported("done")
	s.press("\x11") // ctrl+q
	s.ended()
	if sent := s.out.String(); !strings.HasPrefix(sent[strings.LastIndex(sent, "\x1b]7501;"):], "\x1b]7501;state=clear\a") {
		t.Errorf("the last status of %q", sent)
	}
	if strings.Contains(s.out.frame(), "state=") {
		t.Errorf("the status is shown as text:\n%s", s.out.frame())
	}
}

// FuzzRequests sends any request in any order to a channel; the server must stay, and
// start nothing but the screen and what Command allows.
func FuzzRequests(f *testing.F) {
	r := newRig(f, func(o *Options) { o.Connections = 1000 })
	c := r.client("anna")
	for _, seed := range []struct {
		kind    string
		payload []byte
	}{
		{"pty-req", ssh.Marshal(struct {
			T          string
			W, H, X, Y uint32
			M          string
		}{"xterm", 80, 24, 0, 0, ""})},
		{"env", ssh.Marshal(struct{ N, V string }{"LANG", "C"})},
		{"exec", ssh.Marshal(struct{ L string }{"hello"})},
		{"exec", ssh.Marshal(struct{ L string }{"sh -c 'id'"})},
		{"window-change", ssh.Marshal(struct{ W, H, X, Y uint32 }{1 << 31, 1 << 31, 0, 0})},
		{"subsystem", ssh.Marshal(struct{ N string }{"sftp"})},
		{"signal", ssh.Marshal(struct{ N string }{"KILL"})},
		{"shell", nil},
		{"auth-agent-req@openssh.com", nil},
		{"x11-req", []byte{0}},
		{"\x00", []byte("\xff\xff\xff\xff")},
	} {
		f.Add(seed.kind, seed.payload, seed.kind, seed.payload, "shell", []byte(nil))
		f.Add("pty-req", seed.payload, seed.kind, seed.payload, "exec", ssh.Marshal(struct{ L string }{"hello"}))
	}
	f.Fuzz(func(t *testing.T, kind1 string, payload1 []byte, kind2 string, payload2 []byte, kind3 string, payload3 []byte) {
		var ch ssh.Channel
		var requests <-chan *ssh.Request
		eventually(t, "a channel is free", func() bool { // screens of earlier inputs may still end
			var err error
			if ch, requests, err = c.OpenChannel("session", nil); err != nil && !is[*ssh.OpenChannelError](err) {
				t.Fatalf("the connection is gone: %v", err)
			}
			return err == nil
		})
		go ssh.DiscardRequests(requests)
		go func() { _, _ = io.Copy(io.Discard, ch.Stderr()) }()
		out := make(chan string, 1)
		go func() {
			raw, _ := io.ReadAll(ch)
			out <- string(raw)
		}()
		for _, q := range []struct {
			kind    string
			payload []byte
		}{{kind1, payload1}, {kind2, payload2}, {kind3, payload3}} {
			ok, err := ch.SendRequest(q.kind, true, q.payload)
			if err != nil {
				break // the channel has ended
			}
			if ok && !slices.Contains([]string{"pty-req", "env", "window-change", "signal", "shell", "exec"}, q.kind) {
				t.Errorf("%q is granted", q.kind)
			}
		}
		_ = ch.Close()
		<-out
		if _, _, err := c.SendRequest("keepalive@openssh.com", true, nil); err != nil {
			t.Fatalf("the connection is gone: %v", err)
		}
	})
}
