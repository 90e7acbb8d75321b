package sshserver

import (
	"context"
	"errors"
	"testing"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/serve"
)

// unreadable is a history whose settings cannot be read while unread returns an error.
type unreadable struct {
	history.Settings
	unread func() error
}

func (u unreadable) Get(ctx context.Context, key string) (string, error) {
	if err := u.unread(); err != nil {
		return "", err
	}
	return u.Settings.Get(ctx, key)
}

// If the user's last session cannot be read, no new session takes its place.
func TestAnUnreadLastSessionIsNotReplaced(t *testing.T) {
	unread := errors.New("too many files are open")
	broken := false
	r := newRig(t, func(o *Options) {
		o.History = unreadable{o.History, func() error {
			if broken {
				return unread
			}
			return nil
		}}
	})
	open := func() (*serve.Session, error) {
		c := &channel{connection: &connection{server: r.server, user: "anna", who: serve.Credential{User: "anna", Role: assistant.RoleSave}}, ctx: t.Context()}
		return c.session()
	}
	last, err := open()
	r.must(err)
	r.must(last.Close(t.Context()))
	broken = true
	if s, err := open(); !errors.Is(err, unread) {
		t.Errorf("a session while the last one cannot be read: %v, %v", s, err)
	}
	broken = false
	again, err := open()
	r.must(err)
	defer again.Close(context.Background())
	if again.ID() != last.ID() {
		t.Errorf("the session is %s, want the last one, %s", again.ID(), last.ID())
	}
}
