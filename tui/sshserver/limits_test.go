package sshserver

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"winnow/assistant/serve"
)

// silent opens a connection from an address of this machine and says nothing. The server
// has accepted it.
func (r *rig) silent(from string) net.Conn {
	r.t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	conn, err := d.DialContext(r.t.Context(), "tcp", r.addr)
	if err != nil {
		r.t.Skipf("no connection from %s: %v", from, err) // not every system has more than one
	}
	r.t.Cleanup(func() { _ = conn.Close() })
	version := make([]byte, len("SSH-2.0"))
	if _, err := io.ReadFull(conn, version); err != nil {
		r.t.Fatalf("a new connection is refused: %v", err)
	}
	return conn
}

// logIn logs in over a connection.
func (r *rig) logIn(conn net.Conn, user string) error {
	_, _, _, err := ssh.NewClientConn(conn, r.addr, &ssh.ClientConfig{
		User: "whoever", Auth: []ssh.AuthMethod{ssh.PublicKeys(r.keys[user])}, HostKeyCallback: ssh.FixedHostKey(r.server.host.PublicKey()),
	})
	return err
}

func TestSilentConnectionsKeepNobodyOut(t *testing.T) {
	r := newRig(t)
	for range 3 * serve.MaxLogins {
		r.silent("127.0.0.1")
	}
	if _, err := r.dial("anna"); err != nil {
		t.Errorf("with %d silent connections: %v", 3*serve.MaxLogins, err)
	}
	for i := range 2 * serve.MaxLogins { // none of many addresses has more than others
		r.silent(fmt.Sprintf("127.0.1.%d", 1+i%250))
	}
	if _, err := r.dial("anna"); err != nil {
		t.Errorf("with silent connections of many addresses: %v", err)
	}
	if !strings.Contains(r.log.String(), "dropped before login") {
		t.Error("the log says nothing")
	}
}

// half is a connection that has begun and can still log in: the server's first bytes are
// not read yet.
func (r *rig) half() net.Conn {
	r.t.Helper()
	conn, err := (&net.Dialer{}).DialContext(r.t.Context(), "tcp", r.addr)
	r.must(err)
	r.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func TestConnectionsOfOneAddressDropNoneOfAnother(t *testing.T) {
	r := newRig(t)
	slow := r.half()
	for range 3 * serve.MaxLogins {
		r.silent("127.0.0.2")
	}
	if err := r.logIn(slow, "anna"); err != nil {
		t.Errorf("a login that began before %d connections of another address: %v", 3*serve.MaxLogins, err)
	}
}

func TestALoginHasATime(t *testing.T) {
	r := newRig(t, func(o *Options) { o.login = 200 * time.Millisecond })
	if _, err := io.Copy(io.Discard, r.silent("127.0.0.1")); err != nil {
		t.Logf("ended with %v", err)
	}
	eventually(t, "the log says so", func() bool { return strings.Contains(r.log.String(), "login failed") })
}

func TestSilentConnectionsDoNotDelayTheEnd(t *testing.T) {
	r := newRig(t, func(o *Options) { o.login = time.Hour })
	for range 10 {
		r.silent("127.0.0.1")
	}
	r.stop()
}

// refused is why a connection that has logged in opens no channel; "" means that it does.
func refused(t *testing.T, c *ssh.Client) string {
	t.Helper()
	s, err := c.NewSession()
	if err == nil {
		_ = s.Close()
		return ""
	}
	return err.Error()
}

func TestOneUserDoesNotTakeAllPlaces(t *testing.T) {
	const all, each = 12, 10
	r := newRig(t, func(o *Options) { o.Connections, o.PerUser = all, each })
	var annas []*ssh.Client
	for range each {
		annas = append(annas, r.client("anna"))
		if why := refused(t, annas[len(annas)-1]); why != "" {
			t.Fatalf("a connection is refused: %s", why)
		}
	}
	for range 3 * all { // the refused ones take no place
		if why := refused(t, r.client("anna")); !strings.Contains(why, "anna has 10 connections open") {
			t.Fatalf("one connection more: %q", why)
		}
	}
	for range all - each {
		if why := refused(t, r.client("bert")); why != "" {
			t.Errorf("another user is refused: %s", why)
		}
	}
	if why := refused(t, r.client("bert")); !strings.Contains(why, "limit of connections") {
		t.Errorf("more connections than Options.Connections: %q", why)
	}
	if why := refused(t, annas[0]); why != "" {
		t.Errorf("a connection from before: %s", why)
	}
	r.must(annas[0].Close())
	eventually(t, "the place is free", func() bool { return refused(t, r.client("anna")) == "" })
}

func TestChannelsAreBounded(t *testing.T) {
	const each = 10
	r := newRig(t, func(o *Options) { o.PerUser = each })
	var open []*ssh.Session
	fill := func(c *ssh.Client, want int) {
		t.Helper()
		for n := 0; ; n++ {
			s, err := c.NewSession()
			if err != nil {
				if n != want || !strings.Contains(err.Error(), "close one first") {
					t.Errorf("%d channels, then %v; want %d", n, err, want)
				}
				return
			}
			open = append(open, s)
		}
	}
	for left := each; left > 0; left -= maxChannel {
		fill(r.client("anna"), min(left, maxChannel))
	}
	fill(r.client("anna"), 0)
	fill(r.client("bert"), maxChannel)
	r.must(open[0].Close())
	eventually(t, "the channel is free", func() bool { return refused(t, r.client("anna")) == "" })
}

// TestACommandThatGoesOnIsEndedWithTheServer: it has Options.drain to end by itself.
func TestACommandThatGoesOnIsEndedWithTheServer(t *testing.T) {
	running, ended := make(chan struct{}), make(chan struct{})
	r := newRig(t, func(o *Options) {
		o.drain = time.Millisecond
		o.Command = func(serve.Credential, string) (func(context.Context, Streams) int, error) {
			return func(ctx context.Context, _ Streams) int {
				close(running)
				<-ctx.Done()
				close(ended)
				return 1
			}, nil
		}
	})
	ch, requests, err := r.client("anna").OpenChannel("session", nil)
	r.must(err)
	go ssh.DiscardRequests(requests)
	if ok, err := ch.SendRequest("exec", true, ssh.Marshal(struct{ L string }{"mcp"})); !ok || err != nil {
		t.Fatal(ok, err)
	}
	<-running
	go r.stop()
	select {
	case <-ended:
	case <-time.After(patience):
		t.Error("a command goes on after the server has ended")
	}
}
