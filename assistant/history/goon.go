package history

import (
	"context"

	"winnow/assistant"
)

// Renew begins a new session in the folder and window of the one before, where
// it is found again.
func (s *Store) Renew(ctx context.Context, session *assistant.Session) error {
	before := session.ID()
	if err := session.Renew(ctx); err != nil {
		return err
	}
	place, found, err := s.Session(ctx, before)
	if err != nil || !found {
		return err
	}
	return s.Touch(ctx, Session{ID: session.ID(), Folder: place.Folder, Window: place.Window, Model: session.Model()})
}

// GoOn takes up an earlier session, and makes it the last of its folder. An
// error after which session has that ID is one of the latter only.
func (s *Store) GoOn(ctx context.Context, session *assistant.Session, id string) error {
	if err := session.Resume(ctx, id); err != nil {
		return err
	}
	return s.Touch(ctx, Session{ID: id})
}
