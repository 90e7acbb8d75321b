package postgres

import (
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

// HasPassword reports whether an address contains a password. Open refuses it: an
// address is shown and logged.
func HasPassword(address string) bool {
	u, err := url.Parse(address)
	if err != nil { // it may be the password that is not an address
		return strings.Contains(address, "@")
	}
	_, given := u.User.Password()
	return given || u.Query().Has("password")
}

const (
	connectTimeout = 5 * time.Second
	defaultPort    = 5432
	maxConns       = 6        // of one program: its readers, its writer
	defaultSchema  = "winnow" // where the tables are; search_path in the address names another
)

// errAddress refuses an address that cannot be read. It never repeats the address,
// which may contain a password.
var errAddress = errors.New("history: the address is not of the form postgres://[USER@]HOST[:PORT]/DATABASE[?sslmode=verify-full]")

// errPassword refuses an address with a password.
var errPassword = errors.New("history: the address contains a password")

// errPlain refuses an address that would send the history through a network
// without encryption.
var errPlain = errors.New("history: sslmode=disable and sslmode=allow are for a socket or this machine only; " +
	"leave it out, or say sslmode=verify-full")

// parseAddress reads an address, with what the PG* variables, the service file and
// the password file add to it. It refuses connections without TLS to other machines.
func parseAddress(address, password string) (*pgxpool.Config, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql":
		return nil, errAddress
	case HasPassword(address):
		return nil, errPassword
	}
	c, err := pgxpool.ParseConfig(u.String())
	var parse *pgconn.ParseConfigError
	switch {
	case errors.As(err, &parse): // of PGPASSWORD too it says nothing
		return nil, fmt.Errorf("history: the address of the database cannot be used: %w", parse)
	case err != nil:
		return nil, errAddress
	}
	conn := &c.ConnConfig.Config
	if password != "" {
		conn.Password = password
	}
	if err := requireTLS(conn, u.Query().Get("sslmode")); err != nil {
		return nil, err
	}
	if conn.ConnectTimeout == 0 {
		conn.ConnectTimeout = connectTimeout
	}
	for name, value := range map[string]string{
		"application_name": "winnow", "search_path": defaultSchema, "jit": "off", // compiling costs more than a filter line
		"statement_timeout": "30s", "idle_in_transaction_session_timeout": "60s", "lock_timeout": "6s",
	} {
		if conn.RuntimeParams[name] == "" {
			conn.RuntimeParams[name] = value
		}
	}
	c.MaxConns = maxConns
	// An operation that meets a broken connection runs again: asking first would only wait
	// for a server that does not answer.
	c.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return false }
	return c, nil
}

// requireTLS removes the ways without TLS to another machine, and refuses an
// address that asks for one.
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

// local reports whether a host is a folder of sockets or this machine.
func local(host string) bool {
	ip := net.ParseIP(host)
	return strings.HasPrefix(host, "/") || strings.HasPrefix(host, "@") || host == "localhost" || ip != nil && ip.IsLoopback()
}

// displayed returns the address for people, without anything secret.
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
