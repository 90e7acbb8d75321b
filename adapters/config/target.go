package config

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"winnow/assistant/safetext"
)

// HereTarget is the name of the target that every folder has: its own .env file.
const HereTarget = "here"

// Target is another proxy whose rules can be compared and set: an entry of [[target]]. It has either EnvFile, the
// path of the proxy's .env file on this machine, or URL, the address of a winnow server on the proxy's machine.
type Target struct {
	Name      string `toml:"name" json:"name"`
	EnvFile   string `toml:"env_file" json:"env_file,omitempty"`
	URL       string `toml:"url" json:"url,omitempty"`
	Token     Secret `toml:"token" json:"token,omitempty"` // env:, cmd: or keyring:, never the token itself
	TokenFile string `toml:"token_file" json:"token_file,omitempty"`
	AllowHTTP bool   `toml:"allow_http" json:"allow_http,omitempty"` // allow an unencrypted connection
	Line      int    `toml:"-" json:"line"`
}

// targetKeys lists the keys of a [[target]].
var targetKeys = []string{"name", "env_file", "url", "token", "token_file", "allow_http"}

// checkTargets sets the lines of the targets and returns the first error, or nil.
func (s *Settings) checkTargets(path string, lines []int) error {
	first := map[string]int{}
	for i := range s.Targets {
		t := &s.Targets[i]
		t.Line = lines[min(i, len(lines)-1)]
		reason := nameProblem(t.Name, first)
		_, _, named := t.Token.parse()
		switch {
		case reason != "":
		case t.Name == HereTarget:
			reason = "the name " + HereTarget + " is reserved for the folder's own .env"
		case (t.EnvFile != "") == (t.URL != ""):
			reason = "it needs either env_file or url"
		case t.EnvFile != "" && !filepath.IsAbs(t.EnvFile):
			reason = "env_file must be an absolute path"
		case t.EnvFile != "" && (t.Token != "" || t.TokenFile != ""):
			reason = "token and token_file go with url, not env_file"
		case t.URL != "" && (t.Token != "") == (t.TokenFile != ""):
			reason = "a url needs either token or token_file"
		case t.Token != "" && !named:
			reason = "token must be env:NAME, cmd:COMMAND or keyring:NAME, or use token_file"
		case t.TokenFile != "" && !filepath.IsAbs(t.TokenFile):
			reason = "token_file must be an absolute path"
		}
		if reason != "" {
			where := "target"
			if entryName.MatchString(t.Name) {
				where += " " + t.Name
			}
			return &Error{path, t.Line, where, reason}
		}
		first[t.Name] = t.Line
	}
	return nil
}

// maxToken limits the size of a token file, in bytes.
const maxToken = 4 << 10

// ReadToken returns the token of a server. environ and known are as in [Secret.Resolve].
func (t Target) ReadToken(ctx context.Context, environ []string, known *safetext.Redactor) (string, error) {
	if t.TokenFile == "" {
		return t.Token.Resolve(ctx, environ, known)
	}
	data, mode, err := read(t.TokenFile)
	if err != nil {
		return "", fmt.Errorf("token_file %s: %s", t.TokenFile, reason(err))
	}
	if mode&0o077 != 0 && os.PathSeparator == '/' {
		return "", fmt.Errorf("other users have access to token_file %[1]s: run chmod 600 %[1]s", t.TokenFile)
	}
	token := strings.TrimSpace(string(data))
	if token == "" || len(token) > maxToken || strings.ContainsAny(token, " \t\r\n") {
		return "", fmt.Errorf("token_file %s does not contain a token", t.TokenFile)
	}
	return token, nil
}
