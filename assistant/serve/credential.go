package serve

import (
	"context"
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
	"strconv"
	"time"

	"github.com/gofrs/flock"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/checkpoint/privatefile"
)

// Credential is an identity that a client has proved.
type Credential struct {
	// Key identifies the credential. A different role gives a different key, so that sessions opened with the old role end
	// when the role changes.
	Key     string
	User    string
	Role    assistant.Role
	Expires time.Time // zero means never
}

// Token is a token as stored in a token file.
type Token struct {
	Name    string         `json:"name"` // name of the user
	Role    assistant.Role `json:"role"`
	Hash    string         `json:"hash"` // SHA-256 in hexadecimal; a token is random, so a fast hash is sufficient
	Created time.Time      `json:"created"`
	Expires time.Time      `json:"expires,omitzero"` // zero means never
}

// Expired reports whether the token is no longer valid at the time now.
func (t Token) Expired(now time.Time) bool { return !t.Expires.IsZero() && !now.Before(t.Expires) }

// TokenPrefix begins the Key of every Credential that a token proves.
const TokenPrefix = "token "

// Credential returns the credential that the token proves.
func (t Token) Credential() Credential {
	return Credential{Key: TokenPrefix + t.Hash + " " + string(t.Role), User: t.Name, Role: t.Role, Expires: t.Expires}
}

// TokenHash returns the hash of a token in the form of Token.Hash.
func TokenHash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// Tokens is a token file. If the file is missing, there are no tokens.
type Tokens struct {
	Path string
	Now  func() time.Time // nil means time.Now
}

// Errors returned by Add and Remove.
var (
	ErrTokenExists = errors.New("there is already a token with this name")
	ErrNoToken     = errors.New("there is no token with this name")
)

// maxTokenFile is the maximum size of a token file in bytes.
const maxTokenFile = 1 << 20

func (f Tokens) now() time.Time {
	if f.Now == nil {
		return time.Now()
	}
	return f.Now()
}

// List returns the tokens in the order in which they were added. It returns an error if other users of the machine can
// read or change the file.
func (f Tokens) List() ([]Token, error) {
	info, err := os.Stat(f.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > maxTokenFile:
		return nil, fmt.Errorf("%s is not a regular file, or is larger than %d KiB", f.Path, maxTokenFile>>10)
	case privatefile.HasModes && info.Mode().Perm()&^privatefile.FileMode != 0:
		return nil, fmt.Errorf("other users can read or change %[1]s: run chmod %[2]o %[1]s", f.Path, privatefile.FileMode)
	}
	raw, err := os.ReadFile(f.Path)
	if err != nil {
		return nil, err
	}
	var stored struct{ Tokens []Token }
	if err := json.Unmarshal(raw, &stored); err != nil {
		return nil, fmt.Errorf("%s cannot be parsed: %w", f.Path, err)
	}
	for _, t := range stored.Tokens {
		if role, err := assistant.ParseRole(string(t.Role)); err != nil || role != t.Role {
			return nil, fmt.Errorf("%s: the token %s has no valid role", f.Path, safetext.Line(t.Name, maxTokenName))
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

// Find returns the credential for a token; ok is false if the token is unknown or has expired.
func (f Tokens) Find(token string) (c Credential, ok bool, err error) {
	all, err := f.List()
	if err != nil {
		return Credential{}, false, err
	}
	hash := TokenHash(token)
	for _, t := range all { // the time that comparing hashes takes does not help to guess a token
		if t.Hash == hash && !t.Expired(f.now()) {
			return t.Credential(), true, nil
		}
	}
	return Credential{}, false, nil
}

// maxTokenName is the maximum width of a token's name in cells.
const maxTokenName = 40

// Add adds a token and returns it; only its hash is stored. lifetime 0 means that the token never expires.
func (f Tokens) Add(name string, role assistant.Role, lifetime time.Duration) (token string, added Token, err error) {
	if name == "" || name != string(safetext.Line(name, maxTokenName)) {
		return "", Token{}, fmt.Errorf("a name must have 1 to %d visible characters", maxTokenName)
	}
	token = "winnow_" + rand.Text()
	added = Token{Name: name, Role: role, Hash: TokenHash(token), Created: f.now().UTC().Truncate(time.Second)}
	if lifetime > 0 {
		added.Expires = added.Created.Add(lifetime)
	}
	return token, added, f.change(func(all []Token) ([]Token, error) {
		if slices.ContainsFunc(all, func(t Token) bool { return t.Name == name }) {
			return nil, ErrTokenExists
		}
		return append(all, added), nil
	})
}

// Remove removes a token by its name.
func (f Tokens) Remove(name string) error {
	return f.change(func(all []Token) ([]Token, error) {
		n := len(all)
		if all = slices.DeleteFunc(all, func(t Token) bool { return t.Name == name }); len(all) == n {
			return nil, ErrNoToken
		}
		return all, nil
	})
}

// change edits the list of tokens and stores it durably. It holds the file's lock throughout.
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

// WatchInterval is the usual interval for WatchFiles: sessions of a removed key end within a second.
const WatchInterval = 500 * time.Millisecond

// WatchFiles calls look once per interval until ctx ends; changed reports whether one of the files has changed since
// the last call. WatchFiles compares times and sizes instead of asking the system to report changes, because comparing
// also works on network file systems and for files that are mounted into a container.
func WatchFiles(ctx context.Context, interval time.Duration, paths []string, look func(changed bool)) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	seen := stamps(paths)
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			now := stamps(paths)
			look(now != seen)
			seen = now
		}
	}
}

// stamps describes the files in such a way that a change to one of them changes the result.
func stamps(paths []string) (out string) {
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			out += "-;"
			continue
		}
		out += info.ModTime().String() + info.Mode().String() + strconv.FormatInt(info.Size(), 10) + ";"
	}
	return out
}
