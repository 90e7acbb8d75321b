//go:build unix

package postgres

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"winnow/assistant"
)

// breaker is between a store and its server. It breaks the connection of the next
// commit, once.
type breaker struct {
	net.Listener
	server        string // its socket
	before, after atomic.Bool
}

// newBreaker returns a breaker, and an address of a new database behind it.
func newBreaker(t *testing.T) (b *breaker, address string) {
	t.Helper()
	const socket = ".s.PGSQL.5432"
	s := needServer(t)
	dir, err := shortFolder("winnow-pg")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, socket)) //nolint:noctx // on this machine
	must(t, err)
	t.Cleanup(func() { l.Close() })
	b = &breaker{Listener: l, server: filepath.Join(s.dir, socket)}
	go func() {
		for client, err := l.Accept(); err == nil; client, err = l.Accept() {
			go b.forward(client)
		}
	}()
	return b, strings.Replace(newHistory(t), s.dir, dir, 1)
}

// forward connects a client with the server until one of them ends.
func (b *breaker) forward(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("unix", b.server) //nolint:noctx // on this machine
	if err != nil {
		return
	}
	defer server.Close()
	var mute atomic.Bool // the next answer is not forwarded
	go func() {
		defer client.Close()
		buffer := make([]byte, 64<<10)
		for n, err := server.Read(buffer); err == nil && !mute.Load(); n, err = server.Read(buffer) {
			if _, err := client.Write(buffer[:n]); err != nil {
				return
			}
		}
	}()
	buffer := make([]byte, 64<<10)
	for n, err := client.Read(buffer); err == nil; n, err = client.Read(buffer) {
		if bytes.Contains(buffer[:n], []byte("commit\x00")) {
			if b.before.CompareAndSwap(true, false) {
				return
			}
			mute.Store(b.after.CompareAndSwap(true, false))
		}
		if _, err := server.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// A commit whose answer is lost is not run again, and one that did not reach the server
// is.
func TestACommitWithoutAnAnswerIsDoneOnce(t *testing.T) {
	b, address := newBreaker(t)
	s := openAt(t, address, Options{})
	for i, broken := range []*atomic.Bool{&b.before, &b.after} {
		broken.Store(true)
		added, err := s.Append(t.Context(), []*assistant.Pair{{ID: assistant.NewID(s.options.Now()), Session: "s", UserText: "q"}})
		if added != 1 || err != nil {
			t.Errorf("commit %d: %d pairs added, %v; want 1", i, added, err)
		}
		if broken.Load() {
			t.Errorf("commit %d was not broken", i)
		}
		if refs, err := s.Refs(t.Context(), "s", 3.5); err != nil || len(refs) != i+1 {
			t.Errorf("commit %d: %d pairs are stored, %v; want %d", i, len(refs), err, i+1)
		}
	}
}
