package mcp

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"winnow/assistant"
	"winnow/assistant/serve"
	"winnow/checkpoint/privatefile"
)

// Choice contains what an agent on this machine requests for its connection.
type Choice struct {
	ReadOnly  bool     `json:"read_only,omitempty"`
	Tools     []string `json:"tools,omitempty"`
	AllowSave bool     `json:"allow_save,omitempty"`
}

// address is a document from which agents on this machine learn how to reach a hub. Only the user of the hub can read
// it.
type address struct {
	Address string `json:"address"` // HOST:PORT on the loopback interface
	Secret  string `json:"secret"`  // a secret that agents need to connect
}

// hello is the first line that an agent sends on a connection, and also the server's reply.
type hello struct {
	Secret string `json:"secret,omitempty"`
	Choice
	Error string   `json:"error,omitempty"`
	Tool  string   `json:"tool,omitempty"`  // the name of a tool in Choice that does not exist
	Known []string `json:"known,omitempty"` // the names of all tools, if Tool is set
}

// helloTime limits how long the first line and the reply may take.
const helloTime = 5 * time.Second

// localKey is the key of the credential of agents on this machine.
const localKey = "local"

// ErrNoHub means that no program serves the window on this machine.
var ErrNoHub = errors.New("no program on this machine serves this window")

// ServeLocal serves the agents on this machine that find the document at path, until ctx ends. Each agent is a separate
// user with the role save. wait blocks until all connections have ended.
func (a *Agents) ServeLocal(ctx context.Context, path string) (wait func(), err error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	here := address{l.Addr().String(), rand.Text()}
	if err := privatefile.WriteDocument(path, here); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	var running sync.WaitGroup
	logins := &serve.Logins{}
	stop := context.AfterFunc(ctx, func() {
		_ = l.Close() // ends Accept
		logins.DropAll()
		removeAddress(path, here)
	})
	running.Go(func() {
		defer stop()
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			if dropped := logins.Begin(conn); dropped != nil {
				_ = dropped.Close()
			}
			running.Go(func() {
				defer func() { _ = conn.Close() }()
				defer logins.End(conn)
				a.local(ctx, conn, here.Secret, func() { logins.End(conn) })
			})
		}
	})
	return running.Wait, nil
}

// removeAddress removes the document unless another hub has replaced it.
func removeAddress(path string, own address) {
	var now address
	if privatefile.ReadDocument(path, &now) == nil && now == own {
		_ = os.Remove(path) // a leftover document is harmless, because nothing listens at its address
	}
}

// local serves one connection. It calls loggedIn when the agent has sent the secret.
func (a *Agents) local(ctx context.Context, conn net.Conn, secret string, loggedIn func()) {
	_ = conn.SetDeadline(time.Now().Add(helloTime))
	in := bufio.NewReaderSize(io.LimitReader(conn, 64<<10), 64<<10)
	line, err := in.ReadSlice('\n')
	var h hello
	if err != nil || json.Unmarshal(line, &h) != nil || subtle.ConstantTimeCompare([]byte(h.Secret), []byte(secret)) != 1 {
		return
	}
	loggedIn()
	o := a.opts.Options
	o.ReadOnly, o.Tools, o.AllowSave = h.ReadOnly, h.Tools, h.AllowSave
	rest, err := io.ReadAll(io.LimitReader(in, int64(in.Buffered())))
	if err != nil {
		return
	}
	c, err := a.join(ctx, serve.Credential{Key: localKey, Role: assistant.RoleSave}, o)
	if err == nil {
		defer a.leave(c)
		err = a.begin(c)
	}
	answer := hello{}
	if unknown, ok := errors.AsType[*UnknownToolError](err); ok {
		answer.Tool, answer.Known = unknown.Name, unknown.Known
	} else if err != nil {
		answer.Error = err.Error()
	}
	if json.NewEncoder(conn).Encode(answer) != nil || err != nil {
		return
	}
	_ = conn.SetDeadline(time.Time{})
	stop := context.AfterFunc(c.ctx, func() { _ = conn.SetReadDeadline(time.Now()) }) // stops reading; answers are still written
	defer stop()
	if err := c.run(c.ctx, io.MultiReader(bytes.NewReader(rest), conn), conn); err != nil {
		c.opts.Log.Warn("the connection to an agent was lost", "error", err)
	}
}

// Relay connects an agent to the hub whose document is at path: the agent's requests come from in, and its answers go to
// out. Relay returns when either side has ended. If there is no hub, it returns ErrNoHub without reading anything.
func Relay(ctx context.Context, path string, in io.Reader, out io.Writer, choice Choice) error {
	var at address
	if err := privatefile.ReadDocument(path, &at); err != nil {
		return ErrNoHub
	}
	conn, err := (&net.Dialer{Timeout: helloTime}).DialContext(ctx, "tcp", at.Address)
	if err != nil {
		return ErrNoHub // the hub was killed
	}
	defer func() { _ = conn.Close() }()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	_ = conn.SetDeadline(time.Now().Add(helloTime))
	if json.NewEncoder(conn).Encode(hello{Secret: at.Secret, Choice: choice}) != nil {
		return ErrNoHub
	}
	from := bufio.NewReader(conn)
	line, err := from.ReadSlice('\n')
	var answer hello
	switch {
	case err != nil || json.Unmarshal(line, &answer) != nil:
		return ErrNoHub // another program now listens at this address
	case answer.Tool != "":
		return &UnknownToolError{answer.Tool, answer.Known}
	case answer.Error != "":
		return errors.New(answer.Error)
	}
	_ = conn.SetDeadline(time.Time{})
	asked := make(chan struct{})
	go func() {
		_, _ = io.Copy(conn, in) // ends when the agent closes its input or the connection ends
		close(asked)             // must happen before CloseWrite, which may end the connection
		_ = conn.(*net.TCPConn).CloseWrite()
	}()
	_, err = io.Copy(out, from)
	select {
	case <-asked:
		return nil
	default:
	}
	if ctx.Err() != nil {
		return nil
	}
	if err == nil {
		err = errors.New("the server has shut down")
	}
	return err
}
