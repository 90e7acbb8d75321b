package llm

import (
	"cmp"
	"fmt"
	"strings"
)

// Need is what a conversation requires of a model.
type Need struct {
	Provider  string // preferred provider; "" means any
	Model     string // preferred model, "provider/name" or just the name if Provider is set; "" means any
	Tools     bool
	Reasoning bool
	Images    bool
	Tokens    int // estimated size of the request
}

// Selection chooses the model of a conversation. It returns the id of a model that meets
// the need, or a *ConfigError that says what is missing.
type Selection func(need Need, models []ModelInfo) (id string, err error)

// DefaultSelection chooses the preferred model, or the first that meets the need if none is
// preferred. It returns a *ConfigError if the preferred model does not meet the need, or if
// no model does.
func DefaultSelection(need Need, models []ModelInfo) (string, error) {
	prefix := ""
	if need.Provider != "" {
		prefix = need.Provider + "/"
	}
	if want := need.Model; want != "" {
		if !strings.HasPrefix(want, prefix) {
			want = prefix + want
		}
		for _, m := range models {
			if m.ID == want {
				return want, need.unmet(m)
			}
		}
		return want, nil // not listed: the endpoint decides
	}
	for _, m := range models {
		if strings.HasPrefix(m.ID, prefix) && need.unmet(m) == nil {
			return m.ID, nil
		}
	}
	return "", &ConfigError{"model", "no known model meets these requirements: " + need.String()}
}

// unmet returns a *ConfigError for a need that m does not meet, or nil. A model without a
// description meets all needs: its endpoint decides.
func (n Need) unmet(m ModelInfo) error {
	described := m.Known && m.Source != "config"
	switch {
	case n.Images && m.Known && !m.Images:
		return &ConfigError{"model", m.ID + " cannot generate images"}
	case !n.Images && m.NoChat:
		return &ConfigError{"model", m.ID + " cannot chat"}
	case n.Tools && described && !m.Tools:
		return &ConfigError{"model", m.ID + " cannot call tools"}
	case n.Reasoning && described && !m.Reasons:
		return &ConfigError{"model", m.ID + " cannot reason"}
	case m.Context > 0 && n.Tokens > m.Context:
		return &ConfigError{"model", fmt.Sprintf("%s accepts %d tokens, but about %d are needed", m.ID, m.Context, n.Tokens)}
	}
	return nil
}

// String lists what is needed; it is "chat" if there are no other requirements.
func (n Need) String() string {
	var parts []string
	add := func(needed bool, part string) {
		if needed {
			parts = append(parts, part)
		}
	}
	add(n.Provider != "", "provider "+n.Provider)
	add(n.Tools, "tools")
	add(n.Reasoning, "reasoning")
	add(n.Images, "images")
	add(n.Tokens > 0, fmt.Sprintf("%d tokens", n.Tokens))
	return cmp.Or(strings.Join(parts, ", "), "chat")
}
