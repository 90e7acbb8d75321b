package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"winnow/assistant/serve"
)

// serviceManager is the service manager that started this process, such as systemd. The
// zero value means that there is none.
type serviceManager struct {
	socket    string              // address for sd_notify
	listeners map[string]*os.File // open sockets, by name
}

// firstSocket is the file descriptor of the first socket that a service manager passes to the process.
const firstSocket = 3

// findServiceManager reads the environment like sd_notify and sd_listen_fds. Child
// processes do not inherit the sockets.
func findServiceManager(environ []string) (m serviceManager, err error) {
	values := map[string]string{}
	for _, e := range environ {
		name, value, _ := strings.Cut(e, "=")
		values[name] = value
	}
	m = serviceManager{socket: values["NOTIFY_SOCKET"], listeners: map[string]*os.File{}}
	if values["LISTEN_PID"] != strconv.Itoa(os.Getpid()) || values["LISTEN_FDS"] == "" {
		return m, nil
	}
	n, err := strconv.Atoi(values["LISTEN_FDS"])
	names := strings.Split(values["LISTEN_FDNAMES"], ":")
	if err != nil || n != len(names) {
		return m, errors.New("each socket of the service manager needs a FileDescriptorName: http, ssh or metrics")
	}
	for i, name := range names {
		closeOnExec(firstSocket + i)
		m.listeners[name] = os.NewFile(uintptr(firstSocket+i), name)
	}
	return m, nil
}

// listen returns the listener with this name that the service manager has opened, or opens
// one at an address.
func (m serviceManager) listen(ctx context.Context, name, address string) (net.Listener, error) {
	file := m.listeners[name]
	if file == nil {
		return (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	}
	defer file.Close() // the listener has its own copy of the descriptor
	l, err := net.FileListener(file)
	if err != nil {
		return nil, fmt.Errorf("the socket %s of the service manager cannot be used: %w", name, err)
	}
	return l, nil
}

// notify reports the state of the service to the service manager: READY=1 or STOPPING=1.
func (m serviceManager) notify(state string) error {
	if m.socket == "" {
		return nil
	}
	name := m.socket
	if strings.HasPrefix(name, "@") { // an abstract socket
		name = "\x00" + name[1:]
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		return err
	}
	_, err = conn.Write([]byte(state))
	return errors.Join(err, conn.Close())
}

// certificate is a TLS certificate that is reloaded when its files change.
type certificate struct {
	cert, key string // paths
	now       atomic.Pointer[tls.Certificate]
}

// load reads the files. After an error, the previous certificate stays in use.
func (c *certificate) load() error {
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err == nil {
		c.now.Store(&pair)
	}
	return err
}

// config returns the configuration of a server that always presents the current certificate.
func (c *certificate) config() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.now.Load(), nil },
	}
}

// leaf returns the certificate itself, without its chain.
func (c *certificate) leaf() *x509.Certificate { return c.now.Load().Leaf }

// watch reloads the files when they change, until ctx ends.
func (c *certificate) watch(ctx context.Context, log *slog.Logger) {
	serve.WatchFiles(ctx, serve.WatchInterval, []string{c.cert, c.key}, func(changed bool) {
		if changed {
			c.reload(log)
		}
	})
}

func (c *certificate) reload(log *slog.Logger) {
	if err := c.load(); err != nil {
		log.Error("certificate not reloaded: the previous one stays in use", "error", err)
		return
	}
	log.Info("certificate reloaded", "expires", c.leaf().NotAfter)
}

// onHangup makes SIGHUP call reload instead of ending the process, unless standard input is a
// terminal: a terminal that is closed sends this signal too.
func (a *app) onHangup(reload func()) {
	if !isTerminal(a.stdin) {
		a.reload.Store(&reload)
	}
}

// reloads reports whether a signal only requests a reload; if so, it reloads.
func (a *app) reloads(s os.Signal) bool {
	reload := a.reload.Load()
	if s != syscall.SIGHUP || reload == nil {
		return false
	}
	(*reload)()
	return true
}

// reopenLog makes logger open the log again on its next call, with the settings of that moment.
func (a *app) reopenLog() {
	a.logMu.Lock()
	defer a.logMu.Unlock()
	a.log = nil
}
