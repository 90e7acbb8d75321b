package llm

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// ErrPlainHTTP means that a base URL would send the key unencrypted to another machine.
var ErrPlainHTTP = errors.New("plain http is allowed only for this machine")

// AllowHTTP adds advice to an error of CheckBaseURL that wraps ErrPlainHTTP: how the user
// allows it, such as "set allow_http = true in the [[mcp]] entry". It returns other errors
// unchanged.
func AllowHTTP(err error, how string) error {
	if errors.Is(err, ErrPlainHTTP) {
		return fmt.Errorf("%w; to allow it, %s", err, how)
	}
	return err
}

// CheckBaseURL parses the address of an endpoint, such as "https://api.openai.com/v1", and
// returns it without trailing slashes and with scheme and host in lower case. The error
// says what is wrong and never contains a password; it may wrap ErrPlainHTTP.
//
// It accepts https. It accepts http only to this machine, unless the user has allowed it
// for any host (plainHTTP). The path is used unchanged: a missing /v1 is not added.
func CheckBaseURL(raw string, plainHTTP bool) (*url.URL, error) {
	raw = strings.TrimSpace(raw)
	if raw == "" {
		return nil, errors.New("the base URL is empty; use for example https://api.openai.com/v1")
	}
	for _, r := range raw {
		if r <= ' ' || r >= 0x7f {
			return nil, fmt.Errorf("the base URL contains %q, which is not allowed; write host names in their xn-- form", r)
		}
	}
	u, err := url.Parse(raw)
	if err != nil {
		var parse *url.Error // its text contains the address, which may include a password
		if errors.As(err, &parse) {
			err = parse.Err
		}
		return nil, fmt.Errorf("the base URL is not valid: %w", err)
	}
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	if err := checkParts(u); err != nil {
		return nil, err
	}
	switch {
	case u.Scheme == "https", u.Scheme == "http" && (plainHTTP || Loopback(u.Hostname())):
	case u.Scheme == "http":
		return nil, fmt.Errorf("the base URL sends the key unencrypted to %s: %w", u.Host, ErrPlainHTTP)
	default:
		return nil, fmt.Errorf("the base URL begins with %s:, not with https://", u.Scheme)
	}
	u.Path = strings.TrimRight(u.Path, "/")
	return u, nil
}

// checkParts rejects parts of a URL that do not belong in the address of an endpoint.
func checkParts(u *url.URL) error {
	port, err := strconv.Atoi(u.Port())
	host := u.Hostname()
	_, notIP := netip.ParseAddr(host)
	switch {
	case u.Scheme == "":
		return errors.New("the base URL does not begin with https://")
	case u.User != nil:
		return errors.New("the base URL contains a user name or password: the key has its own setting")
	case u.Opaque != "" || host == "":
		return errors.New("the base URL has no host; use for example https://api.openai.com/v1")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.HasSuffix(u.String(), "#"):
		return errors.New("the base URL ends with a ? or # part: leave it out")
	case u.RawPath != "" || strings.Contains(u.EscapedPath(), "%"):
		return errors.New("the path of the base URL must not contain escaped characters such as %2F")
	case strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/chat/completions"):
		return errors.New("the base URL must not end with /chat/completions: leave it out")
	case strings.Contains(u.Path+"/", "/./") || strings.Contains(u.Path+"/", "/../"):
		return errors.New("the path of the base URL contains a . or .. segment")
	case strings.HasSuffix(u.Host, ":"):
		return errors.New("the base URL has a colon without a port")
	case u.Port() != "" && (err != nil || port < 1 || port > 65535):
		return fmt.Errorf("the base URL has the port %s; ports go from 1 to 65535", u.Port())
	case strings.Contains(host, "%") || notIP != nil && strings.Trim(host, "abcdefghijklmnopqrstuvwxyz0123456789-._") != "":
		return fmt.Errorf("the host of the base URL, %q, is not a valid name", host)
	}
	return nil
}

// Loopback reports whether host is this machine. It does not query a name server.
func Loopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || err == nil && addr.Unmap().IsLoopback()
}

// SameOrigin reports whether a and b have the same scheme, host and port.
func SameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && Port(a) == Port(b)
}

// Port returns the port of u. If u has none, it returns the default port: 80 for http, and
// 443 for https.
func Port(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "http":
		return "80"
	}
	return "443"
}
