package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// maxSize is the maximum size of the file in bytes; most files are about a kilobyte.
const maxSize = 256 << 10

// Options configures Load. The zero value loads only the defaults.
type Options struct {
	Path     string   // path of the file; "" reads no file
	Required bool     // the file must exist, because the user named it
	Environ  []string // in the form of os.Environ
	Override []Flag   // the flags that were given
	Themes   []string // names of themes in addition to "auto", "dark" and "light"
}

// Flag is a setting given on the command line.
type Flag struct {
	Name  string // as typed, such as "--model"
	Key   string
	Value string
}

// Load reads the settings. The error is an *Error, or several *Errors joined.
func Load(o Options) (*Settings, error) {
	s := newSettings(o.Path, o.Themes)
	if o.Path != "" {
		data, _, err := read(o.Path)
		switch {
		case errors.Is(err, fs.ErrNotExist) && !o.Required:
		case err != nil:
			return nil, &Error{Path: o.Path, Reason: reason(err)}
		default:
			s.Found = true
			if err := s.readFile(o.Path, data); err != nil {
				return nil, err
			}
		}
	}
	return s, s.override(o)
}

// newSettings returns the defaults.
func newSettings(path string, themes []string) *Settings {
	s := &Settings{Path: path, Origins: map[string]Origin{}, themes: themes}
	for _, k := range All(themes) {
		if err := k.set(s, k.Default); err != nil {
			panic("config: default of " + k.Key + ": " + err.Error())
		}
		s.Origins[k.Key] = Origin{From: "default"}
	}
	return s
}

// override applies the environment and then the flags.
func (s *Settings) override(o Options) error {
	for _, k := range All(o.Themes) {
		if v, _ := Lookup(o.Environ, k.Env()); v != "" {
			if err := k.set(s, v); err != nil {
				return &Error{Where: k.Env(), Reason: err.Error()}
			}
			s.Origins[k.Key] = Origin{From: "environment", Name: k.Env()}
		}
		for _, f := range o.Override {
			if f.Key != k.Key {
				continue
			}
			if err := k.set(s, f.Value); err != nil {
				return &Error{Where: f.Name, Reason: err.Error()}
			}
			s.Origins[k.Key] = Origin{From: "flag", Name: f.Name}
		}
	}
	return nil
}

// read reads a regular file of at most maxSize bytes.
func read(path string) (data []byte, mode fs.FileMode, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, errors.New("is not a regular file")
	}
	data, err = io.ReadAll(io.LimitReader(f, maxSize+1))
	if err == nil && len(data) > maxSize {
		err = errors.New("is larger than 256 KiB")
	}
	return data, info.Mode().Perm(), err
}

// reason returns the text of an error without the path that an *fs.PathError repeats.
func reason(err error) string {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err.Error()
	}
	return err.Error()
}

// Template returns a configuration file in which all settings are commented out. themes is Options.Themes.
func Template(themes []string) string {
	var b strings.Builder
	b.WriteString("# Settings of winnow. Remove the # to set a value; the values shown are the defaults.\n\n")
	for _, k := range All(themes) {
		fmt.Fprintf(&b, "# %s\n#%s = %s\n", k.Help, k.Key, k.literal(k.Default))
	}
	b.WriteString(`
# Other keys for actions, by mode: winnow's help (f1) lists the actions.
#[keys.view]
#boundary = ["O", "o"]

# An endpoint with OpenAI's chat completions API.
#[[provider]]
#name = "openrouter"
#base_url = "https://openrouter.ai/api/v1"
#api_key = "env:OPENROUTER_API_KEY"   # or cmd:pass show openrouter, keyring:openrouter
#models = []                          # empty: the endpoint is asked

# A Model Context Protocol server whose tools the assistant may use. Each call needs your approval.
#[[mcp]]
#name = "github"
#command = ["github-mcp-server", "stdio"]
#env = { GITHUB_PERSONAL_ACCESS_TOKEN = "keyring:github" }   # the command gets no other keys
#allowed_tools = ["search_issues"]                           # these run without approval
#timeout = "60s"                                             # of a call
#[[mcp]]
#name = "docs"
#url = "https://docs.example/mcp"
#headers = { Authorization = "env:DOCS_AUTHORIZATION" }

# Another proxy for winnow rules diff and winnow rules apply: either its .env on this machine, or a winnow
# server on the machine of the proxy and a token with the role save.
#[[target]]
#name = "staging"
#env_file = "/srv/staging/.env"
#[[target]]
#name = "production"
#url = "https://proxy.example:7341"
#token = "env:PRODUCTION_TOKEN"   # or cmd:, keyring:, or token_file = "/path"
`)
	return b.String()
}
