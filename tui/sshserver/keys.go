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
	"strings"

	"golang.org/x/crypto/ssh"

	"winnow/assistant/safetext"
	"winnow/checkpoint/privatefile"
)

// ModeError refuses a file of keys that others can read or change.
type ModeError struct {
	Path string
	Mode fs.FileMode // that it may have at most
}

func (e *ModeError) Error() string {
	if e.Mode == privatefile.FileMode {
		return "others can read or change " + e.Path
	}
	return "others can change " + e.Path
}

// checkMode refuses what is no file, or has more permissions than mode.
func checkMode(path string, mode fs.FileMode) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a file", path)
	case privatefile.HasModes && info.Mode().Perm()&^mode != 0:
		return &ModeError{path, mode}
	}
	return nil
}

// hostKey reads the key of the server, or makes it.
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

// makeHostKey writes a new key: whole and durable, or not at all.
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
	maxKeyFile = 1 << 20 // bytes of an authorized_keys file
	maxUser    = 40      // cells of the name of a user
)

// readUsers reads an authorized_keys file: the name of the user of each key, by the
// bytes of the key.
func readUsers(path string) (map[string]string, error) {
	const writable = 0o022
	if err := checkMode(path, fs.ModePerm&^writable); err != nil {
		return nil, err
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if len(raw) > maxKeyFile {
		return nil, fmt.Errorf("%s is larger than %d bytes", path, maxKeyFile)
	}
	users, n := map[string]string{}, 0
	for line := range bytes.Lines(raw) {
		n++
		if line = bytes.TrimSpace(line); len(line) == 0 || line[0] == '#' {
			continue
		}
		key, comment, options, _, err := ssh.ParseAuthorizedKey(line)
		user := safetext.Line(comment, maxUser)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s, line %d: this is not a public key", path, n)
		case len(options) > 0 || strings.Contains(key.Type(), "-cert-"):
			return nil, fmt.Errorf("%s, line %d: options and certificates are not supported", path, n)
		case user == "":
			return nil, fmt.Errorf("%s, line %d: the key has no comment, which names its user", path, n)
		}
		users[string(key.Marshal())] = user
	}
	if len(users) == 0 {
		return nil, fmt.Errorf("there is no key in %s", path)
	}
	return users, nil
}
