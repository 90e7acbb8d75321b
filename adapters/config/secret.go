package config

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"winnow/adapters/dotenv"
	"winnow/assistant/safetext"
)

// commandTimeout limits reading a cmd: or keyring: secret, which may ask the user for a password.
const commandTimeout = 60 * time.Second

// Secret is a key, or a reference to one. Its printed forms do not reveal the key.
type Secret string

// Hidden is shown in place of a key that is written in the settings file.
const Hidden = "[key]"

// String returns the reference without the arguments of a command, or Hidden.
func (s Secret) String() string {
	switch kind, _, ok := s.parse(); {
	case s == "":
		return ""
	case ok && kind == "cmd":
		return "cmd:…" // its arguments may contain a secret
	case ok:
		return string(s)
	}
	return Hidden
}

// GoString returns String, so that %#v does not reveal the key either.
func (s Secret) GoString() string { return s.String() }

// MarshalText returns String, for JSON.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

func (s Secret) parse() (kind, rest string, ok bool) {
	kind, rest, ok = strings.Cut(string(s), ":")
	return kind, rest, ok && (kind == "env" || kind == "cmd" || kind == "keyring")
}

// KeyVariables returns the names of the environment variables from which the settings take keys.
func (s *Settings) KeyVariables() (names []string) {
	secrets := []Secret{s.HistoryPassword}
	for _, p := range s.Providers {
		secrets = append(append(secrets, p.APIKey), slices.Collect(maps.Values(p.Headers))...)
	}
	for _, t := range s.Targets {
		secrets = append(secrets, t.Token)
	}
	for _, m := range s.MCPServers {
		secrets = append(append(secrets, slices.Collect(maps.Values(m.Headers))...), slices.Collect(maps.Values(m.Env))...)
	}
	for _, secret := range secrets {
		if kind, name, ok := secret.parse(); ok && kind == "env" {
			names = append(names, name)
		}
	}
	return names
}

// Resolve returns the key: the value of a variable, the first line that a command prints, an entry of the keyring, or
// the text itself. environ is in the form of os.Environ. The command runs without a shell, with WithoutKeys(environ,
// known) as its environment.
func (s Secret) Resolve(ctx context.Context, environ []string, known *safetext.Redactor) (string, error) {
	kind, rest, ok := s.parse()
	switch {
	case !ok:
		return string(s), nil
	case kind == "env":
		if v, _ := Lookup(environ, rest); v != "" {
			return v, nil
		}
		return "", fmt.Errorf("the variable %s is not set", rest)
	case kind == "keyring":
		ctx, cancel := context.WithTimeout(ctx, commandTimeout)
		defer cancel()
		return readKeyring(ctx, rest, WithoutKeys(environ, known))
	}
	words, err := SplitWords(rest)
	if err != nil {
		return "", err
	}
	if len(words) == 0 {
		return "", errors.New("cmd: the command is missing")
	}
	return firstLine(ctx, words, WithoutKeys(environ, known))
}

// firstLine runs a command and returns the first line of its output.
func firstLine(ctx context.Context, words, environ []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	c := exec.CommandContext(ctx, words[0], words[1:]...)
	c.Env = environ
	c.WaitDelay = time.Second
	out, err := c.Output()
	if err != nil {
		// The output may contain the secret, so the error contains only the program and its status.
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return "", fmt.Errorf("the command %q exited with status %d", words[0], exit.ExitCode())
		}
		return "", fmt.Errorf("the command %q could not be run", words[0])
	}
	line, _, _ := bytes.Cut(out, []byte("\n"))
	if v := strings.TrimSpace(string(line)); v != "" {
		return v, nil
	}
	return "", fmt.Errorf("the command %q printed nothing", words[0])
}

// WithoutKeys returns the environment for a child process: environ without the variables that IsKey reports and those
// whose value contains a known key.
func WithoutKeys(environ []string, known *safetext.Redactor) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		name, value, _ := strings.Cut(entry, "=")
		return IsKey(name, value) || known.Redact(value) != value
	})
}

// IsKey reports whether a variable of the environment seems to be a key, judged by its name. Paths of existing files
// do not count, nor do desktop session variables.
func IsKey(name, value string) bool {
	if !dotenv.LooksSecret(sessionWord.ReplaceAllString(name, "")) {
		return false
	}
	_, err := os.Stat(value)
	return !filepath.IsAbs(value) || err != nil
}

// sessionWord occurs in names such as DBUS_SESSION_BUS_ADDRESS and XDG_SESSION_ID.
var sessionWord = regexp.MustCompile(`(?i)SESSION`)

var (
	wordPattern    = regexp.MustCompile(`^(?:[^\s'"\\]|'[^']*'|"(?s:[^"\\]|\\.)*"|(?s:\\.))+`)
	quotePattern   = regexp.MustCompile(`'[^']*'|"(?s:[^"\\]|\\.)*"|(?s:\\.)`)
	unescapeQuoted = strings.NewReplacer(`\"`, `"`, `\\`, `\`) // within "…", \ before other characters is literal
)

// SplitWords splits a command into words like a shell, with '…', "…" and \, but without expansions.
func SplitWords(s string) ([]string, error) {
	var words []string
	for s = strings.TrimLeft(s, " \t\n"); s != ""; s = strings.TrimLeft(s, " \t\n") {
		word := wordPattern.FindString(s)
		if word == "" {
			return nil, errors.New("a quote or \\ in the command is not closed")
		}
		s = s[len(word):]
		words = append(words, quotePattern.ReplaceAllStringFunc(word, func(quote string) string {
			switch quote[0] {
			case '"':
				return unescapeQuoted.Replace(quote[1 : len(quote)-1])
			case '\'':
				return quote[1 : len(quote)-1]
			}
			return quote[1:]
		}))
	}
	return words, nil
}

// Lookup returns a variable of an environment in the form of os.Environ.
func Lookup(environ []string, name string) (value string, ok bool) {
	for _, e := range environ {
		if k, v, ok := strings.Cut(e, "="); ok && k == name {
			return v, true
		}
	}
	return "", false
}
