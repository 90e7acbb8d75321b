package main

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"winnow/assistant/serve"
	"winnow/assistant/serve/api"
	"winnow/assistant/serve/mcp"
	"winnow/checkpoint/privatefile"
	"winnow/tui/sshserver"
)

// listenFlags holds the flags of winnow serve.
type listenFlags struct {
	HTTP, TokenFile, Cert, Key string
	Metrics                    string
	PublicURL                  string
	Proxies, Origins           []string
	SSH, AuthorizedKeys        string
	Idle, Total                time.Duration
	Connections, PerUser       int
	Logins, AddressLogins      int
	Sessions, Agents, Requests int
	Events, EventBytes         int
	Screen                     string // largest screen, as COLUMNSxROWS
	Limits                     serve.Limits

	manager serviceManager
}

// Bind declares the flags.
func (f *listenFlags) Bind(set *pflag.FlagSet) {
	set.StringVar(&f.HTTP, "http", "", "listen for HTTP on the address HOST:PORT")
	set.StringVar(&f.TokenFile, "token-file", "", "the FILE with the token, at least 16 characters")
	set.StringVar(&f.Cert, "cert", "", "the FILE with the TLS certificate, required to serve other hosts without --trusted-proxy")
	set.StringVar(&f.Key, "key", "", "the FILE with the certificate's private key")
	set.String("log", "file", "the PLACE to log to: file or stderr")
	set.String("log-format", "json", "the FORMAT of the log: json or text")
	set.Duration("session-idle", api.DefaultIdle, "close an HTTP session that has been unused for TIME")
	set.StringVar(&f.PublicURL, "public-url", "", "the URL at which clients reach --http through a proxy, such as https://winnow.example")
	set.StringSliceVar(&f.Proxies, "trusted-proxy", nil, "the ADDRESS or network of a TLS proxy in front of --http; its X-Forwarded-For header is trusted")
	set.StringSliceVar(&f.Origins, "cors", nil, "an ORIGIN whose pages may use --http from a browser, such as https://tools.example")
	set.StringVar(&f.Metrics, "metrics", "", "also serve /metrics, /healthz and /readyz, and nothing else, on the address HOST:PORT")
	set.StringVar(&f.SSH, "ssh", "", "listen for SSH on the address HOST:PORT")
	set.StringVar(&f.AuthorizedKeys, "authorized-keys", "", "the FILE with the public keys that may log in over SSH, one per line: TYPE KEY USER")
	set.DurationVar(&f.Idle, "idle-limit", sshserver.DefaultIdle, "close an SSH connection that is idle for TIME")
	set.DurationVar(&f.Total, "total-limit", sshserver.DefaultTotal, "close an SSH connection that has been open for TIME")
	set.IntVar(&f.Connections, "max-connections", sshserver.DefaultConnections, "allow at most N open SSH connections")
	set.IntVar(&f.PerUser, "max-per-user", sshserver.DefaultPerUser, "allow each user at most N open SSH connections, and at most N screens and commands in them")
	set.IntVar(&f.Logins, "max-logins", serve.MaxLogins, "allow at most N open connections that have not logged in, for SSH and HTTP each")
	set.IntVar(&f.AddressLogins, "max-address-logins", serve.MaxAddressLogins, "allow one address at most N of the connections that --max-logins limits")
	set.IntVar(&f.Sessions, "max-sessions", api.DefaultSessions, "allow at most N open HTTP sessions")
	set.IntVar(&f.Limits.Sessions, "max-user-sessions", serve.DefaultUserSessions, "allow each user at most N open sessions of all kinds")
	set.IntVar(&f.Limits.Bytes, "max-session-bytes", serve.DefaultSessionBytes, "store at most N bytes of event text for each session of any kind; a reader that is further behind gets the whole state again")
	set.IntVar(&f.Agents, "max-user-agents", mcp.DefaultPerUser, "allow each user at most N connected agents")
	set.IntVar(&f.Requests, "max-user-requests", api.DefaultRequests, "allow each user at most N open HTTP requests, such as event streams")
	set.IntVar(&f.Limits.Turns, "user-turns", 0, "allow each user at most N messages per day; the default is no limit")
	set.Int64Var(&f.Limits.Tokens, "user-tokens", 0, "allow each user at most N tokens per day; the default is no limit")
	set.IntVar(&f.Events, "max-events", api.DefaultEvents, "store at most N events for each HTTP session")
	set.IntVar(&f.EventBytes, "max-event-bytes", api.DefaultEventBytes, "store at most N bytes of events for each HTTP session")
	set.StringVar(&f.Screen, "max-screen", fmt.Sprintf("%dx%d", sshserver.DefaultWidth, sshserver.DefaultHeight), "limit a screen over SSH to COLUMNSxROWS")
}

// screen returns the size given by --max-screen, the largest for a screen over SSH.
func (f *listenFlags) screen() (width, height int, err error) {
	const most = 10_000
	columns, rows, _ := strings.Cut(f.Screen, "x")
	width, err = strconv.Atoi(columns)
	if err == nil {
		height, err = strconv.Atoi(rows)
	}
	if err != nil || width < 1 || height < 1 || width > most || height > most {
		err = fmt.Errorf("--max-screen %s: the size must be COLUMNSxROWS, such as 200x60", f.Screen)
	}
	return width, height, err
}

// least returns the smallest of the limits that must not be 0.
func (f *listenFlags) least() int {
	return min(f.Connections, f.PerUser, f.Logins, f.AddressLogins, f.Sessions, f.Agents, f.Requests, f.Events, f.EventBytes, f.Limits.Sessions, f.Limits.Bytes)
}

// Check returns an error if the flags are invalid or cannot be combined.
func (f *listenFlags) Check() error {
	host, _, err := net.SplitHostPort(f.HTTP)
	_, _, sshErr := net.SplitHostPort(f.SSH)
	_, _, metricsErr := net.SplitHostPort(f.Metrics)
	behind := api.Options{}
	proxyErr := f.behind(&behind)
	problem := ""
	switch {
	case f.HTTP == "" && f.SSH == "":
		problem = "specify where to listen: --http 127.0.0.1:7777, or --ssh :2222 --authorized-keys FILE"
	case f.HTTP != "" && err != nil:
		problem = fmt.Sprintf("--http %s: the address must be HOST:PORT, such as 127.0.0.1:7777", f.HTTP)
	case f.SSH != "" && sshErr != nil:
		problem = fmt.Sprintf("--ssh %s: the address must be HOST:PORT, such as :2222", f.SSH)
	case f.Metrics != "" && metricsErr != nil:
		problem = fmt.Sprintf("--metrics %s: the address must be HOST:PORT, such as 127.0.0.1:9090", f.Metrics)
	case (f.SSH == "") != (f.AuthorizedKeys == ""):
		problem = "--ssh and --authorized-keys must be used together"
	case f.HTTP == "" && (f.TokenFile+f.Cert+f.Key+f.PublicURL != "" || len(f.Proxies)+len(f.Origins) > 0):
		problem = "--token-file, --cert, --key, --public-url, --trusted-proxy and --cors require --http"
	case proxyErr != nil:
		problem = proxyErr.Error()
	case (f.Cert == "") != (f.Key == ""):
		problem = "--cert and --key must be used together"
	case f.HTTP != "" && f.Cert == "" && len(f.Proxies) == 0 && !api.Loopback(host):
		problem = "serving other hosts requires TLS: add --cert and --key, or --trusted-proxy for a proxy that has them, or listen on 127.0.0.1"
	default:
		return f.checkLimits()
	}
	return errors.New(problem)
}

func (f *listenFlags) checkLimits() error {
	if f.Idle <= 0 || f.Total <= 0 || f.least() <= 0 || f.Limits.Turns < 0 || f.Limits.Tokens < 0 {
		return errors.New("every limit must be greater than 0; only --user-turns and --user-tokens can be 0, which means no limit")
	}
	_, _, err := f.screen()
	return err
}

// behind sets the options for a proxy in front of the server, and for browser pages.
func (f *listenFlags) behind(o *api.Options) error {
	o.Proxies, o.Origins = nil, nil
	if f.PublicURL != "" {
		u, err := webURL(f.PublicURL)
		if err != nil || strings.Trim(u.Path, "/") != "" {
			return fmt.Errorf("--public-url %s: use a URL such as https://winnow.example, without a path", f.PublicURL)
		}
		o.PublicURL = u
	}
	for _, text := range f.Proxies {
		prefix, err := netip.ParsePrefix(text)
		if at, notPrefix := netip.ParseAddr(text); err != nil && notPrefix == nil {
			prefix, err = at.Prefix(at.BitLen())
		}
		if err != nil {
			return fmt.Errorf("--trusted-proxy %s: this is not an address or a network such as 10.0.0.0/8", text)
		}
		o.Proxies = append(o.Proxies, prefix)
	}
	for _, text := range f.Origins {
		u, err := webURL(text)
		if err != nil || u.Path != "" {
			return fmt.Errorf("--cors %s: use an origin such as https://tools.example", text)
		}
		o.Origins = append(o.Origins, u)
	}
	return nil
}

// webURL parses a URL that has only a scheme, a host and a path.
func webURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err == nil && (u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "") {
		err = errors.New("this is not the URL of a server")
	}
	return u, err
}

// listeners holds the open servers of one hub.
type listeners struct {
	Problems []string       // warnings that do not prevent the start
	Lines    []string       // printed once the servers listen
	Started  map[string]any // the same information as Lines, for --json

	listeners []net.Listener
	reload    []func() // functions that read files again
	serve     []func(context.Context) error
}

// Open opens the servers that the flags name. It returns a *sshserver.ModeError if others can read or change one of
// the files.
func (f *listenFlags) Open(ctx context.Context, ssh sshserver.Options, http api.Options) (*listeners, error) {
	s := &listeners{Started: map[string]any{}}
	var err error
	if f.SSH != "" {
		err = f.openSSH(ctx, s, ssh)
	}
	if err == nil && f.HTTP != "" {
		err = f.openHTTP(ctx, s, http)
	}
	if err == nil && f.Metrics != "" {
		err = f.openMetrics(ctx, s, api.ObserveOptions{Metrics: http.Metrics, Tokens: http.Tokens, Ready: http.Ready, Log: http.Log})
	}
	if err != nil {
		s.Close()
	}
	return s, err
}

func (s *listeners) add(l net.Listener, serve func(context.Context) error, line, name, address string) {
	s.listeners, s.serve, s.Lines = append(s.listeners, l), append(s.serve, serve), append(s.Lines, line)
	s.Started[name] = address
}

// Close closes the listeners of servers that have not been started; a started server closes its own.
func (s *listeners) Close() {
	for _, l := range s.listeners {
		_ = l.Close() // an error means that serve has already closed it
	}
}

// Serve runs the servers until ctx ends or one of them fails.
func (s *listeners) Serve(ctx context.Context) (err error) {
	ctx, end := context.WithCancel(ctx)
	defer end()
	ended, until := make(chan error), ctx
	for _, serve := range s.serve { // the HTTP server closes the hub, so it must end after the SSH server
		done, serving := context.WithCancel(context.WithoutCancel(ctx))
		go func(until context.Context) {
			err := serve(until)
			serving()
			ended <- err
		}(until)
		until = done
	}
	for range s.serve {
		err = errors.Join(err, <-ended)
		end()
	}
	return err
}

func (f *listenFlags) openSSH(ctx context.Context, s *listeners, o sshserver.Options) error {
	o.AuthorizedKeys, o.Idle, o.Total, o.Connections, o.PerUser = f.AuthorizedKeys, f.Idle, f.Total, f.Connections, f.PerUser
	o.Logins, o.AddressLogins = f.Logins, f.AddressLogins
	var err error
	if o.Width, o.Height, err = f.screen(); err != nil {
		return err
	}
	server, err := sshserver.New(o)
	if err != nil {
		return err
	}
	l, err := f.manager.listen(ctx, "ssh", f.SSH)
	if err != nil {
		return err
	}
	s.Problems = append(s.Problems, server.Problems...)
	address, key := l.Addr().String(), server.Fingerprint()
	s.reload = append(s.reload, server.Reload)
	s.add(l, func(ctx context.Context) error { return server.Serve(ctx, l) }, "winnow serves ssh on "+address+", host key "+key, "ssh", address)
	s.Started["host_key"] = key
	return nil
}

func (f *listenFlags) openMetrics(ctx context.Context, s *listeners, o api.ObserveOptions) error {
	l, err := f.manager.listen(ctx, "metrics", f.Metrics)
	if err != nil {
		return err
	}
	address := l.Addr().String()
	s.add(l, func(ctx context.Context) error { return api.ServeObserved(ctx, l, api.Observe(o)) }, "winnow serves metrics on "+address, "metrics", address)
	return nil
}

func (f *listenFlags) openHTTP(ctx context.Context, s *listeners, o api.Options) error {
	tokens, err := o.Tokens.List()
	if err != nil {
		return err
	}
	token, made := "", false
	if f.TokenFile != "" || len(tokens) == 0 {
		if token, made, err = readToken(f.TokenFile); err != nil {
			return err
		}
	}
	o.Token = token
	if err := f.behind(&o); err != nil {
		return err
	}
	o.Logins, o.AddressLogins, o.Sessions, o.Requests = f.Logins, f.AddressLogins, f.Sessions, f.Requests
	o.Events, o.EventBytes = f.Events, f.EventBytes
	scheme, config := "http", (*tls.Config)(nil)
	cert := &certificate{cert: f.Cert, key: f.Key}
	if f.Cert != "" {
		if err := cert.load(); err != nil {
			return err
		}
		scheme, config, o.Cert = "https", cert.config(), cert.leaf
	}
	l, err := f.manager.listen(ctx, "http", f.HTTP)
	if err != nil {
		return err
	}
	host, _, _ := net.SplitHostPort(f.HTTP)
	_, port, _ := net.SplitHostPort(l.Addr().String())
	o.Address = net.JoinHostPort(host, port)
	server, err := api.New(o)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	url := scheme + "://" + o.Address
	s.reload = append(s.reload, server.Reload)
	s.add(l, func(ctx context.Context) error {
		if config != nil {
			watching, stop := context.WithCancel(ctx)
			defer stop()
			go cert.watch(watching, o.Log)
		}
		return server.Serve(ctx, l, config)
	}, "winnow serves "+url, "url", url)
	if config != nil {
		s.reload = append(s.reload, func() { cert.reload(o.Log) })
	}
	if made {
		s.Lines, s.Started["token"] = append(s.Lines, "token: "+token), token
	}
	return nil
}

// minToken is the minimum length of a token in bytes; a shorter token might be guessed.
const minToken = 16

// readToken reads the token from the file at path, or creates a token if path is "".
func readToken(path string) (token string, made bool, err error) {
	if path == "" {
		return rand.Text(), true, nil
	}
	const howToMake = "create one with (umask 077; openssl rand -hex 32 > %[1]s)"
	info, err := os.Stat(path)
	if err != nil {
		return "", false, fmt.Errorf("%[2]w; "+howToMake, path, err)
	}
	if privatefile.HasModes && info.Mode().Perm()&^privatefile.FileMode != 0 {
		return "", false, &sshserver.ModeError{Path: path, Mode: privatefile.FileMode}
	}
	raw, err := os.ReadFile(path)
	if token = strings.TrimSpace(string(raw)); err == nil && len(token) < minToken {
		err = fmt.Errorf("the token in %[1]s is shorter than %[2]d characters; "+howToMake, path, minToken)
	}
	return token, false, err
}
