package models

import (
	"errors"
	"fmt"
	"net/url"

	"winnow/assistant/safetext"
)

// Reasons why there is no fetched list.
var (
	errNoSource = errors.New("it has no known key or address, and there is no proxy")
	errNoProxy  = errors.New("no proxy is set up") // returned if Options.Proxy is nil
	errEmpty    = errors.New("the list is empty")
	errUnusable = errors.New("the list has no usable entry")
	errTooLong  = fmt.Errorf("the list has more than %d models", maxModels)
)

// maxReason is the maximum width of an error's text in cells; a sentence fits.
const maxReason = 400

// fetchError explains a failed fetch in one line that contains no keys and is safe to show.
// The text of its cause may contain keys.
type fetchError struct {
	text  string
	cause error
}

func (e *fetchError) Error() string { return e.text }

func (e *fetchError) Unwrap() error { return e.cause }

// failed returns the error for a failed fetch. Its text never contains t's key, even if the
// text of cause does.
func (t Target) failed(cause error) error {
	who := "the proxy"
	if t.Provider != "" {
		who = string(safetext.Line(t.Provider, maxReason/4))
	}
	if host := hostOf(t.BaseURL); host != "" {
		who += " at " + host
	}
	reason := safetext.Line(safetext.NewRedactor([]string{t.secret}).Redact(cause.Error()), maxReason)
	return &fetchError{fmt.Sprintf("%s: %s", who, reason), cause}
}

// placeName returns the name of the place where a variable is set, safe to show.
func placeName(from string) string {
	if from == "" {
		return "the environment"
	}
	return string(safetext.Line(from, maxReason/4))
}

// hostOf returns the host and port of an address, safe to show.
func hostOf(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return "an unreadable address"
	}
	return string(safetext.Line(u.Host, maxReason/4))
}

// withoutSecrets returns the scheme, host and path of an address, which may be stored.
func withoutSecrets(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}
