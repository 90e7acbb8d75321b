package history

import (
	"time"

	"winnow/assistant"
	"winnow/assistant/filter"
)

// EnvOf is what a filter line means for the user of a session at a time, by the
// days of this place.
func EnvOf(s *assistant.Session, now time.Time) Env {
	return Env{
		Env: filter.Env{
			Now: now, Location: time.Local, SelectedTopic: s.Topic(), SelectedModel: s.Model(), Session: s.ID(),
		},
		CharsPerToken: s.Settings().Budget.CPT(),
		Fits:          s.Fits(),
	}
}
