package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// HasPassword reports whether an address contains a password. Open rejects such an address, because addresses are
// displayed and logged.
func HasPassword(address string) bool {
	u, err := url.Parse(address)
	if err != nil { // the cause may be unescaped characters in a password
		return strings.Contains(address, "@")
	}
	_, given := u.User.Password()
	return given || u.Query().Has("password")
}

const (
	connectTimeout = 5 * time.Second
	defaultPort    = 5432
	connections    = 3        // per store, including the listener
	defaultSchema  = "winnow" // the schema of the tables; search_path in the address overrides it
)

// errAddress is returned for an address that cannot be parsed. It never repeats the address, which may contain a
// password.
var errAddress = errors.New("history: the address is not of the form postgres://[USER@]HOST[:PORT]/DATABASE[?sslmode=verify-full]")

// errPassword is returned for an address that contains a password.
var errPassword = errors.New("history: the address contains a password")

// errPlain is returned for an address that would send the history over a network without encryption.
var errPlain = errors.New("history: sslmode=disable and sslmode=allow are allowed only for a socket or this machine; " +
	"remove sslmode from the address, or use sslmode=verify-full")

// parseAddress parses an address and applies the PG* environment variables, the service file and the password file. It
// rejects connections to other machines that do not use TLS. It returns the parameters of the address, with defaults, as
// settings, which the store applies after connecting, because a pooler refuses or drops most of them when a connection
// starts.
func parseAddress(address, password string) (c *pgxpool.Config, settings map[string]string, err error) {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql":
		return nil, nil, errAddress
	case HasPassword(address):
		return nil, nil, errPassword
	}
	c, err = pgxpool.ParseConfig(u.String())
	var parse *pgconn.ParseConfigError
	switch {
	case errors.As(err, &parse): // the message of parse contains no password
		return nil, nil, fmt.Errorf("history: the address of the database cannot be used: %w", parse)
	case err != nil:
		return nil, nil, errAddress
	}
	conn := &c.ConnConfig.Config
	if password != "" {
		conn.Password = password
	}
	if err := requireTLS(conn, u.Query().Get("sslmode")); err != nil {
		return nil, nil, err
	}
	if conn.ConnectTimeout == 0 {
		conn.ConnectTimeout = connectTimeout
	}
	conn.RuntimeParams["application_name"] = cmp.Or(conn.RuntimeParams["application_name"], "winnow")
	settings = map[string]string{
		"search_path": defaultSchema, "jit": "off", // JIT compilation takes longer than the query of a filter line
		"statement_timeout": "30s", "idle_in_transaction_session_timeout": "60s", "lock_timeout": "6s",
	}
	for name, value := range conn.RuntimeParams {
		if !startupParameters[name] {
			settings[name] = value
			delete(conn.RuntimeParams, name)
		}
	}
	// The pool does not ping before each operation: an operation on a broken connection is retried, and a ping would only
	// add a wait if the server does not answer.
	c.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return false }
	return c, settings, nil
}

// startupParameters are the parameters that can be set only when a connection starts, or that every pooler accepts.
var startupParameters = map[string]bool{"application_name": true, "client_encoding": true, "options": true}

// requireTLS removes the fallbacks that would connect to another machine without TLS. It returns errPlain if the
// address requests such a connection.
func requireTLS(c *pgconn.Config, sslmode string) error {
	asked := sslmode == "disable" || sslmode == "allow"
	first := &pgconn.FallbackConfig{Host: c.Host, Port: c.Port, TLSConfig: c.TLSConfig}
	ways := slices.DeleteFunc(append([]*pgconn.FallbackConfig{first}, c.Fallbacks...), func(way *pgconn.FallbackConfig) bool {
		return way.TLSConfig == nil && !local(way.Host)
	})
	if len(ways) == 0 || asked && !local(c.Host) {
		return errPlain
	}
	c.Host, c.Port, c.TLSConfig, c.Fallbacks = ways[0].Host, ways[0].Port, ways[0].TLSConfig, ways[1:]
	return nil
}

// local reports whether a host is this machine or a folder of Unix sockets.
func local(host string) bool {
	ip := net.ParseIP(host)
	return strings.HasPrefix(host, "/") || strings.HasPrefix(host, "@") || host == "localhost" || ip != nil && ip.IsLoopback()
}

// displayed returns the address without secrets, for display.
func displayed(c *pgconn.Config) string {
	u := url.URL{Scheme: "postgres", User: url.User(c.User), Host: c.Host, Path: "/" + c.Database}
	switch {
	case c.Port != defaultPort && !strings.HasPrefix(c.Host, "/"):
		u.Host = net.JoinHostPort(c.Host, fmt.Sprint(c.Port))
	case strings.Contains(c.Host, ":"):
		u.Host = "[" + c.Host + "]"
	}
	if strings.HasPrefix(c.Host, "/") {
		u.Host = ""
		u.RawQuery = "host=" + c.Host
	}
	return u.String()
}
