package history

import (
	"context"
	"time"

	"winnow/assistant"
)

// Session is a conversation: the pairs that were sent under one id.
type Session struct {
	ID      string
	Folder  string // where winnow ran
	Window  string // what it worked on, such as the path of a .env file
	Model   string // "provider/name", the last one used
	Page    string // the page that was open
	Started time.Time
	Used    time.Time // for people; order is by use, not by clock
	Pairs   int       // uncut; only Sessions counts them
	Title   string    // the beginning of its first message; only Sessions reads it
}

// titleRunes is how much of a message a title needs: more than a screen is wide.
const titleRunes = 200

const sessionColumns = "s.id, s.folder, s.window, s.model, s.page, s.started, s.used"

func scanSession(scan scanner, more ...any) (Session, error) {
	var v Session
	var started, used int64
	err := scan(append([]any{&v.ID, &v.Folder, &v.Window, &v.Model, &v.Page, &started, &used}, more...)...)
	v.Started, v.Used = time.UnixMilli(started), time.UnixMilli(used)
	return v, err
}

// NewSession keeps a session and makes it the last of its folder. An empty ID
// is given one; it is returned.
func (s *Store) NewSession(ctx context.Context, v Session) (string, error) {
	if v.ID == "" {
		v.ID = assistant.NewID(s.now())
	}
	return v.ID, s.Touch(ctx, v)
}

// Touch keeps what is said of a session and makes it the last of its folder.
// Empty fields leave what was there; an unknown ID is a new session.
func (s *Store) Touch(ctx context.Context, v Session) error {
	return s.write(ctx, func(t *tx) error {
		c, err := s.change(t)
		if err != nil {
			return err
		}
		if v.Started.IsZero() {
			v.Started = c.now
		}
		at, err := c.session(v.ID, v.Started)
		if err != nil {
			return err
		}
		return c.exec(`UPDATE session SET used = ?, touched = ?,
			folder = coalesce(nullif(?, ''), folder), window = coalesce(nullif(?, ''), window),
			model = coalesce(nullif(?, ''), model), page = coalesce(nullif(?, ''), page)
			WHERE n = ?`, c.now.UnixMilli(), c.rev, v.Folder, v.Window, v.Model, v.Page, at)
	})
}

// Sessions lists all sessions, the last used first.
func (s *Store) Sessions(ctx context.Context) ([]Session, error) {
	var list []Session
	err := s.read(ctx, func(r *reader) error {
		return r.each("SELECT "+sessionColumns+`, (SELECT count(*) FROM pair WHERE session = s.n AND cut IS NULL),
			coalesce((SELECT substr(user, 1, ?) FROM body WHERE seq =
				(SELECT min(seq) FROM pair WHERE session = s.n AND cut IS NULL)), '')
			FROM session s ORDER BY s.touched DESC, s.n DESC`, []any{titleRunes}, func(scan scanner) error {
			var pairs int
			var title string
			v, err := scanSession(scan, &pairs, &title)
			v.Pairs, v.Title = pairs, title
			list = append(list, v)
			return err
		})
	})
	return list, err
}

// LastSession is the session last used in a folder; found is false when there is none.
func (s *Store) LastSession(ctx context.Context, folder string) (v Session, found bool, err error) {
	return s.oneSession(ctx, "WHERE s.folder = ? ORDER BY s.touched DESC, s.n DESC LIMIT 1", folder)
}

// Session is the session with this id; found is false when there is none.
func (s *Store) Session(ctx context.Context, id string) (v Session, found bool, err error) {
	return s.oneSession(ctx, "WHERE s.id = ?", id)
}

func (s *Store) oneSession(ctx context.Context, where, arg string) (v Session, found bool, err error) {
	err = s.read(ctx, func(r *reader) error {
		return r.each("SELECT "+sessionColumns+" FROM session s "+where, []any{arg}, func(scan scanner) error {
			found = true
			v, err = scanSession(scan)
			return err
		})
	})
	return v, found, err
}
