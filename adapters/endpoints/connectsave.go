package endpoints

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"winnow/adapters/config"
)

// Storage is a place for a pasted key.
type Storage int

// The places for a pasted key.
const (
	Keyring  Storage = iota // the keyring of the desktop or the system
	Variable                // not stored: the settings name a variable that the user sets
	Plain                   // plain text in the settings file
)

// keyringTimeout limits how long storing a key may take. It is long because the keyring may ask the user for a password.
const keyringTimeout = 60 * time.Second

// Storages returns the available storages, best first.
func (c *Connector) Storages() []Storage {
	if config.HasKeyring(c.toolEnviron()) {
		return []Storage{Keyring, Variable, Plain}
	}
	return []Storage{Variable, Plain}
}

// toolEnviron returns the environment for the keyring's tool, without keys.
func (c *Connector) toolEnviron() []string {
	return config.WithoutKeys(c.opts.Endpoints.Environ, c.opts.Endpoints.Redactor)
}

// KeyVariable returns the name of the environment variable for the key if the Storage is Variable. The name does not
// end with _API_KEY, because the proxy would take the variable for the key of a provider.
func (ch *Checked) KeyVariable() string {
	return "KEY_FOR_" + strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToUpper(ch.Name))
}

// Saved is the result of Save.
type Saved struct {
	Model    string // id of the model, which is used from now on
	Path     string // the settings file; "" if it was not changed
	Provider bool   // an endpoint was added to the file or changed
	Variable string // variable that the user must set before the next start, or ""
	Folder   bool   // the model is stored for this folder only
}

// Save writes a checked candidate and its model to the settings, and makes the run use them. A model of the folder's
// proxy is stored for this folder only, because other folders have other proxies. place is where a pasted key is
// stored. The error is a *Problem, ctx.Err(), or the error of using the model.
func (c *Connector) Save(ctx context.Context, ch *Checked, id string, place Storage) (Saved, error) {
	done := Saved{Model: id, Provider: ch.write, Folder: !ch.write && ch.Name == ProxyName}
	p := ch.provider
	if ch.Pasted {
		key, err := c.storeKey(ctx, ch, place)
		if err != nil {
			return Saved{}, err
		}
		p = withKey(p, key)
		if place == Variable {
			done.Variable = ch.KeyVariable()
		}
	}
	if err := ctx.Err(); err != nil {
		return Saved{}, err
	}
	if !done.Folder {
		done.Path = c.SettingsPath()
		if err := c.write(ch, p, id); err != nil {
			return Saved{}, &Problem{Code: NotStored, Endpoint: ch.Name, At: done.Path, Err: err}
		}
	}
	if ch.write {
		if err := c.opts.Set.Use(ch.endpoint, ch.Models); err != nil {
			return done, err
		}
		c.mu.Lock()
		c.written = append(c.written, p)
		c.mu.Unlock()
	} else {
		c.opts.Set.Registry.Learn(ch.Models...)
	}
	return done, c.opts.Pick(ctx, id)
}

// storeKey stores a pasted key and returns the reference for the settings.
func (c *Connector) storeKey(ctx context.Context, ch *Checked, to Storage) (config.Secret, error) {
	key := keyOf(ch.provider)
	switch to {
	case Variable:
		return config.Secret("env:" + ch.KeyVariable()), nil
	case Plain:
		return key, nil
	case Keyring:
	}
	ctx, cancel := context.WithTimeout(ctx, keyringTimeout)
	defer cancel()
	reference := config.Secret("keyring:" + ch.Name)
	err := config.StoreInKeyring(ctx, ch.Name, string(key), c.toolEnviron())
	if err == nil {
		var stored string
		if stored, err = reference.Resolve(ctx, c.opts.Endpoints.Environ, c.opts.Endpoints.Redactor); err == nil && stored != string(key) {
			err = errors.New("the keyring returned a different key")
		}
	}
	if err != nil {
		return "", &Problem{Code: NotStored, Endpoint: ch.Name, At: "keyring", Err: err}
	}
	return reference, nil
}

// write sets the model in the settings file, and adds or updates the provider if ch.write is set. It leaves the other
// lines of the file unchanged.
func (c *Connector) write(ch *Checked, p config.Provider, id string) error {
	var before *config.Settings
	return config.Edit(c.SettingsPath(), c.opts.Themes, func(now *config.Settings, data []byte) []byte {
		before = now
		i := slices.IndexFunc(now.Providers, func(have config.Provider) bool { return have.Name == p.Name })
		if ch.write && i >= 0 {
			data = withProvider(data, now.Providers[i], p)
		}
		if data = config.WithValue(data, "model", literal(id)); ch.write && i < 0 {
			data = append(endLine(data), providerText(p)...)
		}
		return data
	}, func(result *config.Settings, _, _ []byte) error {
		want := slices.Clone(before.Providers)
		if ch.write {
			i := slices.IndexFunc(want, func(have config.Provider) bool { return have.Name == p.Name })
			if i < 0 {
				want, i = append(want, config.Provider{Name: p.Name}), len(want)
			}
			want[i].BaseURL, want[i].APIKey, want[i].Headers = p.BaseURL, p.APIKey, p.Headers
		}
		if result.Model != id || !sameProviders(want, result.Providers) || !sameSettings(before, result, c.opts.Themes) {
			return errors.New("the change would affect other settings: edit the file yourself")
		}
		return nil
	})
}

func sameProviders(a, b []config.Provider) bool {
	return slices.EqualFunc(a, b, func(x, y config.Provider) bool {
		x.Line, y.Line = 0, 0
		return reflect.DeepEqual(x, y)
	})
}

// sameSettings reports whether all settings except the model are equal.
func sameSettings(a, b *config.Settings, themes []string) bool {
	return !slices.ContainsFunc(config.All(themes), func(k config.Setting) bool { return k.Key != "model" && k.Show(a) != k.Show(b) })
}

// withProvider returns the file with the address and key of p in place of the address and key of old.
func withProvider(data []byte, old, p config.Provider) []byte {
	lines := bytes.SplitAfter(data, []byte("\n"))
	head := bytes.Join(lines[:old.Line], nil)
	table := config.WithValue(bytes.Join(lines[old.Line:], nil), "base_url", literal(p.BaseURL))
	if p.APIKey != "" || old.APIKey != "" {
		table = config.WithValue(table, "api_key", literal(string(p.APIKey)))
	}
	return slices.Concat(head, table)
}

// endLine returns data so that a new table can follow: its last line ends with a line break, and an empty line follows.
func endLine(data []byte) []byte {
	data = slices.Clone(data)
	if len(data) > 0 && data[len(data)-1] != '\n' {
		data = append(data, '\n')
	}
	if len(data) > 0 {
		data = append(data, '\n')
	}
	return data
}

// providerText returns a provider in the form of the settings file.
func providerText(p config.Provider) string {
	text := fmt.Sprintf("[[provider]]\nname = %s\nbase_url = %s\n", literal(p.Name), literal(p.BaseURL))
	if p.APIKey != "" {
		text += "api_key = " + literal(string(p.APIKey)) + "\n"
	}
	var fields []string
	for field, value := range p.Headers {
		fields = append(fields, literal(field)+" = "+literal(string(value)))
	}
	if slices.Sort(fields); fields != nil {
		text += "headers = { " + strings.Join(fields, ", ") + " }\n"
	}
	return text
}

// literal returns a text as a TOML string.
func literal(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}
