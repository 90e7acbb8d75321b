package usecase

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/share"
)

// OthersChanged is what others in a shared window have done. It is no Outcome: no request
// asks for it.
type OthersChanged struct {
	State   assistant.State // after it
	Changes []share.Change  // oldest first
	Missed  bool            // there were more, which are no longer known
	Read    int64           // for the next WaitOthers
}

// WaitOthers waits for what others do after a change that was read: OthersChanged. It ends
// without a message when the window is not shared, or the session was closed.
func (c *Commands) WaitOthers(read int64) tea.Cmd {
	served := c.served
	if served == nil {
		return nil
	}
	return func() tea.Msg {
		log := served.Changes()
		for {
			entries, more, err := log.After(read)
			if err == nil && len(entries) == 0 {
				if more == nil {
					return nil
				}
				<-more
				continue
			}
			msg := OthersChanged{Missed: err != nil, Read: read + int64(len(entries))}
			if err != nil {
				msg.Read = log.Last()
			}
			for _, e := range entries {
				if e.Session != served.ID() {
					msg.Changes = append(msg.Changes, e)
				}
			}
			msg.State = served.Session().State()
			return msg
		}
	}
}

// AnswerWait is how long a question of a turn may stay unanswered. 0 is for ever.
func (c *Commands) AnswerWait() time.Duration { return c.answerWait }
