package models

import (
	"errors"
	"fmt"
	"net/url"

	"winnow/assistant/safetext"
)

// Why there is no fetched list. They are found by errors.Is in what
// Lists.Models, Lists.Served and Lists.Drift return.
var (
	ErrNoSource = errors.New("no key or address is known for it, and no proxy")
	ErrNoProxy  = errors.New("no proxy is set up") // Options.Proxy is nil
	ErrEmpty    = errors.New("the list is empty")
	ErrUnusable = errors.New("no entry of the list is usable")
	ErrTooLong  = fmt.Errorf("the list has more than %d models", maxModels)
)

// maxReason is the width of an error's text in cells; a sentence fits.
const maxReason = 400

// FetchError is a list that could not be had from a provider or from the proxy.
type FetchError struct {
	Provider string // the name; "" for the proxy
	Host     string // of the address that was asked; "" when none was
	Err      error  // the cause; its text may be anything, show Error's
	reason   string // the cause's text without keys and escapes
}

// Error is one line, free of keys and safe to show.
func (e *FetchError) Error() string {
	who := "the proxy"
	if e.Provider != "" {
		who = safetext.Line(e.Provider, maxReason/4)
	}
	if e.Host != "" {
		who += " at " + e.Host
	}
	return fmt.Sprintf("models of %s: %s", who, e.reason)
}

// Unwrap returns the cause.
func (e *FetchError) Unwrap() error { return e.Err }

// UntrustedError is a key that was not sent: the address it would go to comes
// from elsewhere than the key. Lists does not ask; whoever can asks the user
// and answers by Options.Trust.
type UntrustedError struct {
	Provider string
	BaseURL  string // without user name, password, query
	KeyFrom  string // see Value.From
	BaseFrom string
}

// Error names the host and both places.
func (e *UntrustedError) Error() string {
	return fmt.Sprintf("the key from %s is not sent to %s, which %s sets",
		place(e.KeyFrom), hostOf(e.BaseURL), place(e.BaseFrom))
}

func place(from string) string {
	if from == "" {
		return "the environment"
	}
	return safetext.Line(from, maxReason/4)
}

// failed makes the error of a fetch. Its text never contains t's key, even if cause does.
func (t Target) failed(cause error) *FetchError {
	return &FetchError{
		Provider: t.Provider, Host: hostOf(t.BaseURL), Err: cause,
		reason: safetext.Line(safetext.NewRedactor([]string{t.secret}).Redact(cause.Error()), maxReason),
	}
}

// hostOf returns host and port of an address, safe to show.
func hostOf(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return "an unreadable address"
	}
	return safetext.Line(u.Host, maxReason/4)
}

// bare returns scheme, host and path of an address: what may be written down.
func bare(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}
