package openai

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// CheckBaseURL reads the address of an endpoint, such as
// "https://api.openai.com/v1", and returns it without trailing slashes, scheme
// and host in lower case. The error is a sentence that says what to change.
//
// Accepted are https, and http to this machine itself. The path is taken as it
// is: a missing /v1 is not guessed.
func CheckBaseURL(raw string) (*url.URL, error) { return checkBaseURL(raw, false) }

func checkBaseURL(raw string, plainHTTP bool) (*url.URL, error) {
	raw = strings.TrimSpace(raw)
	if raw == "" {
		return nil, errors.New("the base URL is empty; it looks like https://api.openai.com/v1")
	}
	for _, r := range raw {
		if r <= ' ' || r >= 0x7f {
			return nil, fmt.Errorf("the base URL holds %q: write host names in their xn-- form and escape nothing else than plain ASCII", r)
		}
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("the base URL cannot be read: %w", withoutURL(err))
	}
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	if err := checkParts(u); err != nil {
		return nil, err
	}
	switch {
	case u.Scheme == "https":
	case u.Scheme == "http" && (plainHTTP || loopback(u.Hostname())):
	case u.Scheme == "http":
		return nil, fmt.Errorf("the base URL sends the key unencrypted to %s: use https (plain http is for this machine only)", u.Host)
	default:
		return nil, fmt.Errorf("the base URL begins with %s:, not with https://", u.Scheme)
	}
	u.Path = strings.TrimRight(u.Path, "/")
	return u, nil
}

// withoutURL drops the address from a parse error: it may hold a password.
func withoutURL(err error) error {
	var parse *url.Error
	if errors.As(err, &parse) {
		return parse.Err
	}
	return err
}

// checkParts refuses what has no place in the address of an endpoint.
func checkParts(u *url.URL) error {
	switch {
	case u.Scheme == "":
		return errors.New("the base URL does not begin with https://")
	case u.User != nil:
		return errors.New("the base URL holds a user name or password: put the key into its own setting")
	case u.Opaque != "" || u.Hostname() == "":
		return errors.New("the base URL names no host; it looks like https://api.openai.com/v1")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.HasSuffix(u.String(), "#"):
		return errors.New("the base URL ends with a ? or # part: leave it out")
	case u.RawPath != "" || strings.Contains(u.EscapedPath(), "%"):
		return errors.New("the path of the base URL holds escaped characters")
	case strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/chat/completions"):
		return errors.New("the base URL ends before /chat/completions: leave that out")
	}
	for segment := range strings.SplitSeq(u.Path, "/") {
		if segment == "." || segment == ".." {
			return errors.New("the path of the base URL holds . or .. as a part")
		}
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return fmt.Errorf("the base URL has the port %s; ports go from 1 to 65535", port)
		}
	}
	if strings.HasSuffix(u.Host, ":") {
		return errors.New("the base URL has a colon without a port")
	}
	return checkHost(u.Hostname())
}

// checkHost accepts addresses without a zone, and names of letters, digits, - and _.
func checkHost(host string) error {
	if _, err := netip.ParseAddr(host); err == nil && !strings.Contains(host, "%") {
		return nil
	}
	for _, r := range host {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '.' && r != '_' {
			return fmt.Errorf("the host of the base URL holds %q", r)
		}
	}
	return nil
}

// loopback reports whether host is this machine, without asking a name server.
func loopback(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}

// sameOrigin reports whether a and b have scheme, host and port in common.
func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

func port(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "http":
		return "80"
	}
	return "443"
}
