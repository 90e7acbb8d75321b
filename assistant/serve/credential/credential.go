package credential

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/checkpoint/privatefile"
)

// Credential is what a client has proved to be.
type Credential struct {
	// Key identifies the credential. It changes with the role, so that sessions opened under the old role end.
	Key     string
	User    string
	Role    assistant.Role
	Expires time.Time // zero means never
}

// Token is a token as it is stored.
type Token struct {
	Name    string         `json:"name"` // name of the user
	Role    assistant.Role `json:"role"`
	Hash    string         `json:"hash"` // SHA-256 in hexadecimal; tokens are random, so no slow hash is needed
	Created time.Time      `json:"created"`
	Expires time.Time      `json:"expires,omitzero"` // zero means never
}

// Expired reports whether the token is no longer valid.
func (t Token) Expired(now time.Time) bool { return !t.Expires.IsZero() && !now.Before(t.Expires) }

// TokenPrefix is the start of the keys of tokens.
const TokenPrefix = "token "

// Credential returns the credential that the token proves.
func (t Token) Credential() Credential {
	return Credential{Key: TokenPrefix + t.Hash + " " + string(t.Role), User: t.Name, Role: t.Role, Expires: t.Expires}
}

// Hash returns the hash of a token.
func Hash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// Tokens is a file of tokens. A missing file contains no tokens.
type Tokens struct {
	Path string
	Now  func() time.Time // nil means time.Now
}

// Errors of Add and Remove.
var (
	ErrExists   = errors.New("there is already a token with this name")
	ErrNotFound = errors.New("there is no token with this name")
)

// maxFile is the maximum size of the file in bytes.
const maxFile = 1 << 20

func (f Tokens) now() time.Time {
	if f.Now == nil {
		return time.Now()
	}
	return f.Now()
}

// List returns the tokens in the order in which they were added. It refuses a file that others can read or change.
func (f Tokens) List() ([]Token, error) {
	info, err := os.Stat(f.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > maxFile:
		return nil, fmt.Errorf("%s is not a file of tokens", f.Path)
	case privatefile.HasModes && info.Mode().Perm()&^privatefile.FileMode != 0:
		return nil, fmt.Errorf("others can read or change %s: chmod %o it", f.Path, privatefile.FileMode)
	}
	raw, err := os.ReadFile(f.Path)
	if err != nil {
		return nil, err
	}
	var stored struct{ Tokens []Token }
	if err := json.Unmarshal(raw, &stored); err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", f.Path, err)
	}
	for _, t := range stored.Tokens {
		if role, err := assistant.ParseRole(string(t.Role)); err != nil || role != t.Role {
			return nil, fmt.Errorf("%s: the token %s has no role", f.Path, safetext.Line(t.Name, maxName))
		}
	}
	return stored.Tokens, nil
}

// Keys returns the keys of the credentials of all tokens that have not expired.
func (f Tokens) Keys() (keys []string, err error) {
	all, err := f.List()
	for _, t := range all {
		if !t.Expired(f.now()) {
			keys = append(keys, t.Credential().Key)
		}
	}
	return keys, err
}

// Find returns the credential for a token; ok is false if the token is unknown.
func (f Tokens) Find(token string) (c Credential, ok bool, err error) {
	all, err := f.List()
	if err != nil {
		return Credential{}, false, err
	}
	hash := Hash(token)
	for _, t := range all { // comparing hashes reveals nothing that helps to guess a token
		if t.Hash == hash && !t.Expired(f.now()) {
			return t.Credential(), true, nil
		}
	}
	return Credential{}, false, nil
}

// maxName is the maximum width of a name in cells.
const maxName = 40

// Add adds a token and returns it; it is not stored. lifetime 0 means that it never expires.
func (f Tokens) Add(name string, role assistant.Role, lifetime time.Duration) (token string, added Token, err error) {
	if name == "" || name != safetext.Line(name, maxName) {
		return "", Token{}, fmt.Errorf("a name has 1 to %d visible characters", maxName)
	}
	token = "winnow_" + rand.Text()
	added = Token{Name: name, Role: role, Hash: Hash(token), Created: f.now().UTC().Truncate(time.Second)}
	if lifetime > 0 {
		added.Expires = added.Created.Add(lifetime)
	}
	return token, added, f.change(func(all []Token) ([]Token, error) {
		if slices.ContainsFunc(all, func(t Token) bool { return t.Name == name }) {
			return nil, ErrExists
		}
		return append(all, added), nil
	})
}

// Remove removes a token by its name.
func (f Tokens) Remove(name string) error {
	return f.change(func(all []Token) ([]Token, error) {
		n := len(all)
		if all = slices.DeleteFunc(all, func(t Token) bool { return t.Name == name }); len(all) == n {
			return nil, ErrNotFound
		}
		return all, nil
	})
}

// change replaces the file, durably and under a lock.
func (f Tokens) change(edit func([]Token) ([]Token, error)) (err error) {
	if _, err := privatefile.Folder(filepath.Dir(f.Path)); err != nil {
		return err
	}
	lock := flock.New(f.Path+".lock", flock.SetPermissions(privatefile.FileMode))
	if err := lock.Lock(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	all, err := f.List()
	if err != nil {
		return err
	}
	if all, err = edit(all); err != nil {
		return err
	}
	return privatefile.Replace(f.Path, privatefile.FileMode, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(map[string]any{"tokens": all})
	})
}
