package api

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"winnow/checkpoint/privatefile"
)

// Limits on the responses that are stored for requests with a key, for each user.
const (
	keptFor     = 24 * time.Hour
	maxKeys     = 1000
	maxKeyBytes = 4 << 20 // total size of the response bodies; the newest response is always stored
)

// keptAnswer is the stored response to a request with a key.
type keptAnswer struct {
	User     string            `json:"user"`
	Key      string            `json:"key"`
	Print    string            `json:"print"` // identifies the request
	At       time.Time         `json:"at"`    // when the request began
	Done     bool              `json:"done,omitempty"`
	Released bool              `json:"released,omitempty"` // nothing was done, and the key can be used again
	Status   int               `json:"status,omitempty"`
	Header   map[string]string `json:"header,omitempty"`
	Body     []byte            `json:"body,omitempty"`
	Session  string            `json:"session,omitempty"` // the session in which the request started a turn; Body is then empty
	After    int64             `json:"after,omitempty"`   // the number of the event before the turn

	running bool // guarded by the mutex of keptAnswers
}

// keptAnswers contains the responses to requests with a key. If it has a path, it also stores them in a file, one
// change per line. The start of a request is stored durably before the request is carried out, so that the request is
// not carried out twice even if the machine stops.
type keptAnswers struct {
	path string
	log  *slog.Logger
	now  func() time.Time

	mu    sync.Mutex // guards the fields below
	users map[string][]*keptAnswer
	file  *os.File // nil if there is no path
	added int      // bytes added to the file since it was last rewritten
}

// openKept reads the file at path; "" means no file.
func openKept(path string, log *slog.Logger) (*keptAnswers, error) {
	k := &keptAnswers{path: path, log: log, now: time.Now, users: map[string][]*keptAnswer{}}
	if path == "" {
		return k, nil
	}
	if _, err := privatefile.Folder(filepath.Dir(path)); err != nil {
		return nil, err
	}
	raw, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for line := range bytes.Lines(raw) {
		var a keptAnswer
		if json.Unmarshal(line, &a) != nil {
			continue // the line is incomplete, because the program was killed while it wrote the line
		}
		k.remove(a.User, a.Key)
		if !a.Released {
			k.users[a.User] = append(k.users[a.User], &a)
		}
	}
	return k, k.rewrite()
}

// begin returns the entry that is stored for a request, a new entry that is not Done yet, or the problem with which the
// request must be refused.
func (k *keptAnswers) begin(user, key, print string) (*keptAnswer, *problem) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.trim(user)
	if a := k.find(user, key); a != nil {
		switch {
		case a.Print != print:
			return nil, newProblem("key_reused", "this %s was used for a different request: use a new key", keyHeader)
		case a.running:
			return nil, newProblem("key_in_use", "the first request with this %s is still running: repeat the request later", keyHeader)
		case !a.Done:
			return nil, newProblem("outcome_unknown", "the server failed or stopped during the first request with this %s; the request may have been carried out: check whether it was; to repeat it, use a new key", keyHeader)
		}
		return a, nil
	}
	a := &keptAnswer{User: user, Key: key, Print: print, At: k.now().UTC(), running: true}
	k.users[user] = append(k.users[user], a)
	if err := k.store(a, true); err != nil {
		k.log.Error("a request with an Idempotency-Key could not be carried out", "error", err)
		k.remove(user, key)
		return nil, internalProblem()
	}
	return a, nil
}

// finish stores the response of a request.
func (k *keptAnswers) finish(a *keptAnswer) {
	k.mu.Lock()
	defer k.mu.Unlock()
	a.running, a.Done = false, true
	k.trim(a.User)
	k.note(a)
}

// release removes a request that did nothing, so that its key can be used again.
func (k *keptAnswers) release(a *keptAnswer) {
	k.mu.Lock()
	defer k.mu.Unlock()
	a.running, a.Released = false, true
	k.remove(a.User, a.Key)
	k.note(a)
}

// interrupt marks a request as no longer running; its outcome stays unknown.
func (k *keptAnswers) interrupt(a *keptAnswer) {
	k.mu.Lock()
	defer k.mu.Unlock()
	a.running = false
}

// note stores what became of a request; an error is only logged. The caller has locked k.mu.
func (k *keptAnswers) note(a *keptAnswer) {
	if err := k.store(a, false); err != nil {
		k.log.Warn("the response to a request with an Idempotency-Key is stored only in memory", "error", err)
	}
}

// Close closes the file.
func (k *keptAnswers) Close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.file == nil {
		return nil
	}
	err := k.file.Close()
	k.file, k.path = nil, ""
	return err
}

// find returns an entry, or nil. The caller has locked k.mu.
func (k *keptAnswers) find(user, key string) *keptAnswer {
	all := k.users[user]
	if i := slices.IndexFunc(all, func(a *keptAnswer) bool { return a.Key == key }); i >= 0 {
		return all[i]
	}
	return nil
}

// remove removes an entry. The caller has locked k.mu.
func (k *keptAnswers) remove(user, key string) {
	left := slices.DeleteFunc(k.users[user], func(a *keptAnswer) bool { return a.Key == key })
	if k.users[user] = left; len(left) == 0 {
		delete(k.users, user)
	}
}

// trim removes a user's oldest entries beyond the limits, except those of running requests. The caller has locked k.mu.
func (k *keptAnswers) trim(user string) {
	all, bytes := k.users[user], 0
	first := len(all)
	for ; first > 0; first-- {
		a := all[first-1]
		bytes += len(a.Body)
		if n := len(all) - first; k.now().Sub(a.At) >= keptFor || n >= maxKeys || bytes > maxKeyBytes && n > 0 {
			break
		}
	}
	left := slices.DeleteFunc(slices.Clone(all[:first]), func(a *keptAnswer) bool { return !a.running })
	if left = append(left, all[first:]...); len(left) == 0 {
		delete(k.users, user)
		return
	}
	k.users[user] = left
}

// maxWaste is the number of bytes that may be added to the file before it is rewritten without outdated entries.
const maxWaste = 8 << 20

// store appends an entry to the file, or rewrites the file if too much of it is outdated. The caller has locked k.mu.
func (k *keptAnswers) store(a *keptAnswer, durably bool) (err error) {
	if k.path == "" {
		return nil
	}
	defer func() {
		if err != nil {
			k.added = maxWaste // the file may end in the middle of a line, or have been replaced: the next call rewrites it
		}
	}()
	line, err := json.Marshal(a)
	if err != nil {
		return err
	}
	if k.added+len(line) > maxWaste {
		return k.rewrite() // the new file contains this answer, unless it has been released
	}
	n, err := k.file.Write(append(line, '\n'))
	k.added += n
	if err == nil && durably {
		err = k.file.Sync()
	}
	return err
}

// rewrite replaces the file with one without outdated entries, and opens the new file. The caller has locked k.mu or
// has not shared k yet.
func (k *keptAnswers) rewrite() error {
	err := privatefile.Replace(k.path, privatefile.FileMode, func(w io.Writer) error {
		out := bufio.NewWriter(w)
		for user := range k.users {
			k.trim(user)
			for _, a := range k.users[user] {
				line, err := json.Marshal(a)
				if err != nil {
					return err
				}
				_, _ = out.Write(append(line, '\n')) // Flush returns the error
			}
		}
		return out.Flush()
	})
	if err != nil {
		return err
	}
	file, err := os.OpenFile(k.path, os.O_APPEND|os.O_WRONLY, privatefile.FileMode)
	if err != nil {
		return err
	}
	if k.file != nil {
		_ = k.file.Close() // the file has been replaced
	}
	k.file, k.added = file, 0
	return nil
}
