package assistant

import (
	"fmt"
	"strings"
)

// Need is what a conversation asks of a model.
type Need struct {
	Provider  string // preferred; "" is any
	Model     string // preferred, "provider/name" or a name of Provider; "" is any
	Tools     bool
	Reasoning bool
	Images    bool
	Tokens    int // estimated size of the request
}

// Selection is the strategy that chooses the model of a conversation.
type Selection interface {
	// Select returns the id of a model that meets the need, or a *ConfigError
	// that says what is missing.
	Select(need Need, models []ModelInfo) (string, error)
}

// DefaultSelection takes the preferred model if it can do what is needed, else,
// when none is named, the first that can.
type DefaultSelection struct{}

// Select implements Selection.
func (DefaultSelection) Select(need Need, models []ModelInfo) (string, error) {
	want := need.Model
	if want != "" && need.Provider != "" && !strings.HasPrefix(want, need.Provider+"/") {
		want = need.Provider + "/" + want
	}
	for _, m := range models {
		if want != "" && m.ID == want {
			return m.ID, need.lacking(m)
		}
	}
	if want != "" {
		return want, nil // not listed: the endpoint decides
	}
	for _, m := range models {
		if (need.Provider == "" || strings.HasPrefix(m.ID, need.Provider+"/")) && need.lacking(m) == nil {
			return m.ID, nil
		}
	}
	return "", &ConfigError{"model", "no known model can do this: " + need.String()}
}

// lacking says what a model cannot do. Of one that nobody has described
// nothing is held against it: its endpoint has the last word.
func (n Need) lacking(m ModelInfo) error {
	switch {
	case n.Images && m.Known && !m.Images:
		return &ConfigError{"model", m.ID + " cannot draw images"}
	case !n.Images && m.NoChat:
		return &ConfigError{"model", m.ID + " cannot chat"}
	case n.Tools && m.Known && !m.Tools && m.Source != "config":
		return &ConfigError{"model", m.ID + " cannot call tools"}
	case n.Reasoning && m.Known && !m.Reasons && m.Source != "config":
		return &ConfigError{"model", m.ID + " cannot reason"}
	case m.Context > 0 && n.Tokens > m.Context:
		return &ConfigError{"model", fmt.Sprintf("%s takes %d tokens; about %d are needed", m.ID, m.Context, n.Tokens)}
	}
	return nil
}

// String names what is needed.
func (n Need) String() string {
	var parts []string
	if n.Provider != "" {
		parts = append(parts, "provider "+n.Provider)
	}
	if n.Tools {
		parts = append(parts, "tools")
	}
	if n.Reasoning {
		parts = append(parts, "reasoning")
	}
	if n.Images {
		parts = append(parts, "images")
	}
	if n.Tokens > 0 {
		parts = append(parts, fmt.Sprintf("%d tokens", n.Tokens))
	}
	return strings.Join(parts, ", ")
}
