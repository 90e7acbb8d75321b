package main

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"winnow/assistant/serve"
	"winnow/assistant/serve/api"
)

// serveFlags are the flags of winnow serve.
type serveFlags struct{ http, tokenFile, cert, key string }

func serveCommand(a *app) *cobra.Command {
	var f serveFlags
	c := command("serve", "Serve sessions to other programs, over HTTP", 0, 0, func(ctx context.Context, _ []string) error {
		return a.serve(ctx, f)
	})
	c.Long = "serve answers other programs until it is interrupted: they open sessions, send messages\n" +
		"and read the events of each turn as server-sent events. All sessions work in the window\n" +
		"of this folder. GET /openapi.json describes the requests. Every request needs the token,\n" +
		"which is made at the start and printed once, or read from a file."
	c.Example = "winnow serve --http 127.0.0.1:7777\n" +
		"winnow serve --http :7777 --cert cert.pem --key key.pem --token-file token"
	c.Flags().StringVar(&f.http, "http", "", "`ADDRESS` to listen on, HOST:PORT")
	c.Flags().StringVar(&f.tokenFile, "token-file", "", "`FILE` with the token, of 16 characters or more")
	c.Flags().StringVar(&f.cert, "cert", "", "`FILE` with the certificate for TLS, which other hosts than this one need")
	c.Flags().StringVar(&f.key, "key", "", "`FILE` with the key of the certificate")
	return c
}

// serve serves sessions until ctx ends.
func (a *app) serve(ctx context.Context, f serveFlags) error {
	host, _, err := net.SplitHostPort(f.http)
	switch {
	case f.http == "":
		return &usageError{"winnow serve", "say where to listen: --http 127.0.0.1:7777"}
	case err != nil:
		return &usageError{"winnow serve", fmt.Sprintf("--http %s: an address is HOST:PORT, as in 127.0.0.1:7777", f.http)}
	case (f.cert == "") != (f.key == ""):
		return &usageError{"winnow serve", "--cert and --key belong together"}
	case f.cert == "" && !api.Loopback(host):
		return &usageError{"winnow serve", "other hosts can only be served with TLS: add --cert and --key, or listen on 127.0.0.1"}
	}
	token, made, err := readToken(f.tokenFile)
	if err != nil {
		return err
	}
	o := api.Options{Token: token, Version: version(), Log: a.logger()}
	scheme, config := "http", (*tls.Config)(nil)
	if f.cert != "" {
		pair, err := tls.LoadX509KeyPair(f.cert, f.key)
		if err != nil {
			return err
		}
		scheme, config, o.Cert = "https", &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, pair.Leaf
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", f.http)
	if err != nil {
		return err
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	o.Address = net.JoinHostPort(host, port)
	if o.Hub, err = a.openHub(ctx); err != nil {
		return err
	}
	server, err := api.New(o)
	if err != nil {
		return errors.Join(err, o.Hub.Close(ctx))
	}
	url := scheme + "://" + o.Address
	lines := []string{"winnow serves " + url}
	out := map[string]any{"url": url}
	if made {
		lines, out["token"] = append(lines, "token: "+token), token
	}
	if err := a.emit(out, lines...); err != nil {
		return errors.Join(err, o.Hub.Close(ctx))
	}
	return server.Serve(ctx, l, config)
}

// minToken is the length of the shortest token that nobody guesses.
const minToken = 16

// readToken reads the token from a file, or makes one.
func readToken(path string) (token string, made bool, err error) {
	if path == "" {
		return rand.Text(), true, nil
	}
	const others fs.FileMode = 0o077
	info, err := os.Stat(path)
	if err != nil {
		return "", false, err
	}
	if info.Mode()&others != 0 {
		return "", false, advise(fmt.Errorf("others can read or change %s", path), "chmod 600 %s", path)
	}
	raw, err := os.ReadFile(path)
	if token = strings.TrimSpace(string(raw)); err == nil && len(token) < minToken {
		err = advise(fmt.Errorf("the token in %s is shorter than %d characters", path, minToken), "openssl rand -hex 32 makes one")
	}
	return token, false, err
}

// openHub opens the window of this folder for any number of sessions.
func (a *app) openHub(ctx context.Context) (*serve.Hub, error) {
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
	a.say("%s", p.notice)
	if p.window, err = a.openWindow(ctx, toWrite); err != nil {
		return nil, err
	}
	if p.window.recovered {
		a.say("rules of an earlier run are still unsaved: winnow rules diff shows them")
	}
	o := serve.Options{Registry: p.endpoints.Registry, History: p.store, Folder: a.folder(), Window: p.window.name}
	if o.Session, err = a.sessionOptions(p, model); err != nil {
		return nil, err
	}
	hub := serve.NewHub(o)
	p.window.hub.Store(hub)
	return hub, nil
}
