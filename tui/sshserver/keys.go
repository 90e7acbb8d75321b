package sshserver

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/assistant/serve"
	"winnow/checkpoint/privatefile"
)

// ModeError reports a file with keys or a token that other users can change or, if it must be
// private, read.
type ModeError struct {
	Path string
	Mode fs.FileMode // the maximum permissions that the file may have
}

func (e *ModeError) Error() string {
	if e.Mode == privatefile.FileMode {
		return "other users can read or change " + e.Path
	}
	return "other users can change " + e.Path
}

// checkMode returns an error if path is not a regular file or has permissions beyond mode.
func checkMode(path string, mode fs.FileMode) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", path)
	case privatefile.HasModes && info.Mode().Perm()&^mode != 0:
		return &ModeError{path, mode}
	}
	return nil
}

// hostKey reads the server's host key, or creates it.
func hostKey(path string) (ssh.Signer, error) {
	err := checkMode(path, privatefile.FileMode)
	if errors.Is(err, fs.ErrNotExist) {
		err = makeHostKey(path)
	}
	if err != nil {
		return nil, err
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	signer, err := ssh.ParsePrivateKey(raw)
	if err != nil {
		return nil, fmt.Errorf("the host key %s cannot be used: %w", path, err)
	}
	return signer, nil
}

// makeHostKey writes a new key, atomically and durably.
func makeHostKey(path string) error {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	block, err := ssh.MarshalPrivateKey(private, "winnow")
	if err != nil {
		return err
	}
	if _, err := privatefile.Folder(filepath.Dir(path)); err != nil {
		return err
	}
	return privatefile.Replace(path, privatefile.FileMode, func(w io.Writer) error { return pem.Encode(w, block) })
}

const (
	maxKeyFile = 1 << 20 // maximum bytes of an authorized_keys file
	maxUser    = 40      // maximum cells of a user name
)

// readUsers reads an authorized_keys file and returns the credential of each key, indexed
// by the bytes of the key. Keys that have expired at now are left out, and so are
// lines that cannot be used; problems reports these lines.
func readUsers(path string, now time.Time) (users map[string]serve.Credential, problems []string, err error) {
	const writable = 0o022
	if err := checkMode(path, fs.ModePerm&^writable); err != nil {
		return nil, nil, err
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	if len(raw) > maxKeyFile {
		return nil, nil, fmt.Errorf("%s is larger than %d bytes", path, maxKeyFile)
	}
	users = map[string]serve.Credential{}
	n := 0
	for line := range bytes.Lines(raw) {
		n++
		if line = bytes.TrimSpace(line); len(line) == 0 || line[0] == '#' {
			continue
		}
		key, user, err := readKey(line)
		if err != nil {
			problems = append(problems, fmt.Sprintf("%s, line %d: %v", path, n, err))
			continue
		}
		if user.Expires.IsZero() || now.Before(user.Expires) {
			users[string(key.Marshal())] = user
		}
	}
	return users, problems, nil
}

// readKey reads a line of an authorized_keys file.
func readKey(line []byte) (ssh.PublicKey, serve.Credential, error) {
	key, comment, options, _, err := ssh.ParseAuthorizedKey(line)
	user := serve.Credential{User: string(safetext.Line(comment, maxUser)), Role: assistant.RoleSave}
	switch {
	case err != nil:
		return nil, user, errors.New("this is not a public key")
	case strings.Contains(key.Type(), "-cert-"):
		return nil, user, errors.New("certificates are not supported")
	case user.User == "":
		return nil, user, errors.New("the key has no comment: add the name of its user as the comment")
	}
	for _, option := range options {
		if err := setOption(&user, option); err != nil {
			return nil, user, err
		}
	}
	user.Key = "key " + ssh.FingerprintSHA256(key) + " " + string(user.Role) + " " + user.User
	return key, user, nil
}

// harmless lists the options that change nothing here: most forbid what this server never
// does anyway.
var harmless = []string{
	"restrict", "no-port-forwarding", "no-agent-forwarding", "no-x11-forwarding", "no-user-rc",
	"pty", // allows a terminal in spite of restrict; here every client may have one
}

// setOption applies an option of a key. It returns an error for an unknown option,
// because the option might restrict the key in a way that this server does not enforce.
func setOption(user *serve.Credential, option string) (err error) {
	name, value, _ := strings.Cut(option, "=")
	value = strings.Trim(value, `"`)
	switch name = strings.ToLower(name); {
	case name == "winnow-role":
		if value == "" {
			return errors.New("winnow-role has no value")
		}
		user.Role, err = assistant.ParseRole(value)
	case name == "expiry-time":
		user.Expires, err = expiry(value)
	case slices.Contains(harmless, name):
	default:
		err = fmt.Errorf("the option %s is not supported", identifier(name))
	}
	return err
}

// expiry parses the value of expiry-time in OpenSSH's format: YYYYMMDD[HHMM[SS]][Z].
func expiry(value string) (time.Time, error) {
	digits, in := strings.TrimSuffix(value, "Z"), time.Local
	if digits != value {
		in = time.UTC
	}
	for _, layout := range []string{"20060102", "200601021504", "20060102150405"} {
		if at, err := time.ParseInLocation(layout, digits, in); err == nil {
			return at, nil
		}
	}
	return time.Time{}, errors.New("expiry-time must have the form YYYYMMDD[HHMM[SS]][Z]")
}

// validKeys returns the Key of each credential in the file; none if the file cannot be read.
func (s *Server) validKeys() map[string]bool {
	users, _, err := readUsers(s.opts.AuthorizedKeys, time.Now())
	if err != nil {
		s.log.Error("ssh: authorized keys cannot be read: all connections end", "error", err)
	}
	valid := map[string]bool{}
	for _, user := range users {
		valid[user.Key] = true
	}
	return valid
}
