package llm

import (
	"cmp"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"
)

// Facts describe a model to people who choose between models. The zero value of a field
// means unknown. Facts come from an endpoint or a catalogue; winnow never guesses them.
type Facts struct {
	PriceIn     Price `json:"price_in,omitzero"`
	PriceOut    Price `json:"price_out,omitzero"`
	PriceCached Price `json:"price_cached,omitzero"`      // price of input that the endpoint has cached
	MaxAnswer   int   `json:"max_output_tokens,omitzero"` // tokens

	ToolCalls  Ability `json:"tool_calls,omitempty"`
	Reasoning  Ability `json:"reasoning,omitempty"`
	Structured Ability `json:"structured_output,omitempty"` // can produce answers that follow a JSON schema

	Inputs  string `json:"input_modalities,omitempty"`  // modalities, in lower case, joined by commas: "image,text"
	Outputs string `json:"output_modalities,omitempty"` // the same form as Inputs

	Family   string `json:"family,omitempty"`           // in lower case
	Released string `json:"released,omitempty"`         // a Date
	Cutoff   string `json:"knowledge_cutoff,omitempty"` // end of the training data, a Date
	Status   Status `json:"status,omitempty"`
	Kind     string `json:"kind,omitempty"` // "chat", "embedding", "image", "audio", or the endpoint's own term
}

// Or returns f, with missing facts taken from other.
func (f Facts) Or(other Facts) Facts {
	return Facts{
		PriceIn: cmp.Or(f.PriceIn, other.PriceIn), PriceOut: cmp.Or(f.PriceOut, other.PriceOut), PriceCached: cmp.Or(f.PriceCached, other.PriceCached),
		MaxAnswer: cmp.Or(f.MaxAnswer, other.MaxAnswer),
		ToolCalls: cmp.Or(f.ToolCalls, other.ToolCalls), Reasoning: cmp.Or(f.Reasoning, other.Reasoning), Structured: cmp.Or(f.Structured, other.Structured),
		Inputs: cmp.Or(f.Inputs, other.Inputs), Outputs: cmp.Or(f.Outputs, other.Outputs),
		Family: cmp.Or(f.Family, other.Family), Released: cmp.Or(f.Released, other.Released), Cutoff: cmp.Or(f.Cutoff, other.Cutoff),
		Status: cmp.Or(f.Status, other.Status), Kind: cmp.Or(f.Kind, other.Kind),
	}
}

// Valid returns f without facts that could not have been read from an endpoint: f may come
// from a file that another program has written.
func (f Facts) Valid() Facts {
	able := func(a Ability) Ability {
		if a == Able || a == Unable {
			return a
		}
		return ""
	}
	list := func(words string) string {
		if strings.ContainsFunc(words, func(r rune) bool { return r != ',' && !plain(r) }) {
			return ""
		}
		return words
	}
	f.MaxAnswer = max(f.MaxAnswer, 0)
	f.ToolCalls, f.Reasoning, f.Structured = able(f.ToolCalls), able(f.Reasoning), able(f.Structured)
	f.Inputs, f.Outputs, f.Family, f.Kind = list(f.Inputs), list(f.Outputs), Word(f.Family), Word(f.Kind)
	f.Released, f.Cutoff, f.Status = Date(f.Released), Date(f.Cutoff), StatusOf(string(f.Status))
	return f
}

// Cost returns the price of a usage in US dollars; known is false if a price is missing.
// Cached input costs as much as other input unless PriceCached is known.
func (f Facts) Cost(u Usage) (usd float64, known bool) {
	if !f.PriceIn.Known || !f.PriceOut.Known {
		return 0, false
	}
	cached := f.PriceIn
	if f.PriceCached.Known {
		cached = f.PriceCached
	}
	const million = 1e6
	hits := min(u.Cached, u.Prompt)
	return (float64(u.Prompt-hits)*f.PriceIn.USD + float64(hits)*cached.USD + float64(u.Completion)*f.PriceOut.USD) / million, true
}

// Price is a price in US dollars per million tokens. The zero value means unknown; a known
// price of 0 means free. In JSON it is a number, or null if unknown.
type Price struct {
	USD   float64
	Known bool
}

// maxPrice is the highest plausible price: a dollar per token.
const maxPrice = 1e6

// PriceOf returns a known price, or the unknown price if usd is negative or above maxPrice.
func PriceOf(usd float64) Price {
	if !(usd >= 0 && usd <= maxPrice) {
		return Price{}
	}
	const steps = 1e6 // finer than any price; rounds a computed price such as 0.09999999999999999
	return Price{USD: math.Round(usd*steps) / steps, Known: true}
}

// String returns the price in dollars as people write it, such as "2.50" or "0.075"; "" if
// unknown.
func (p Price) String() string {
	switch {
	case !p.Known:
		return ""
	case p.USD == math.Round(p.USD*100)/100:
		return strconv.FormatFloat(p.USD, 'f', 2, 64)
	}
	return strconv.FormatFloat(p.USD, 'g', 4, 64)
}

// MarshalJSON implements json.Marshaler.
func (p Price) MarshalJSON() ([]byte, error) {
	if !p.Known {
		return []byte("null"), nil
	}
	return json.Marshal(p.USD)
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *Price) UnmarshalJSON(text []byte) error {
	var usd *float64
	if err := json.Unmarshal(text, &usd); err != nil {
		return err
	}
	if *p = (Price{}); usd != nil {
		*p = PriceOf(*usd)
	}
	return nil
}

// Status is the stage of a model's life cycle.
type Status string

// The statuses. The zero value means unknown.
const (
	StatusActive     Status = "active"
	StatusPreview    Status = "preview"
	StatusDeprecated Status = "deprecated"
)

// statuses maps the terms of endpoints to statuses.
var statuses = map[string]Status{
	"active": StatusActive, "stable": StatusActive, "ga": StatusActive, "available": StatusActive, "production": StatusActive,
	"preview": StatusPreview, "beta": StatusPreview, "alpha": StatusPreview, "experimental": StatusPreview,
	"deprecated": StatusDeprecated, "retired": StatusDeprecated, "legacy": StatusDeprecated, "sunset": StatusDeprecated,
}

// StatusOf converts an endpoint's term, in upper or lower case; an unknown term gives the
// zero Status.
func StatusOf(word string) Status { return statuses[strings.ToLower(strings.TrimSpace(word))] }

// kinds maps substrings of endpoints' terms to kinds; the first substring that occurs
// decides.
var kinds = []struct{ part, kind string }{
	{"embed", "embedding"},
	{"image", "image"},
	{"audio", "audio"},
	{"speech", "audio"},
	{"transcri", "audio"},
	{"tts", "audio"},
	{"stt", "audio"},
	{"chat", "chat"},
	{"completion", "chat"},
	{"responses", "chat"},
	{"language", "chat"},
	{"llm", "chat"},
}

// ModelKind converts an endpoint's term for the purpose of a model to "chat", "embedding",
// "image" or "audio", or else returns the term as a [Word].
func ModelKind(word string) string {
	word = Word(word)
	for _, k := range kinds {
		if strings.Contains(word, k.part) {
			return k.kind
		}
	}
	return word
}

// maxWord is the maximum length of a Word in bytes.
const maxWord = 64

// Word returns an endpoint's term in lower case, or "" if it is longer than maxWord bytes or
// contains anything but ASCII letters, digits and - _ . + /.
func Word(word string) string {
	word = strings.ToLower(strings.TrimSpace(word))
	if len(word) > maxWord || strings.ContainsFunc(word, func(r rune) bool { return !plain(r) }) {
		return ""
	}
	return word
}

// plain reports whether r can be part of a Word.
func plain(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.+/", r)
}

// Date reads an endpoint's day, month or year: 2025-01-31 (which a time may follow),
// 2025-01 or 2025. It returns "" for anything else.
func Date(text string) string {
	text = strings.TrimSpace(text)
	if day, _, ok := strings.Cut(text, "T"); ok {
		text = day
	}
	for _, layout := range []string{time.DateOnly, "2006-01", "2006"} {
		if len(text) != len(layout) {
			continue // most models have no date, and an error of Parse is costly
		}
		if _, err := time.Parse(layout, text); err == nil {
			return text
		}
	}
	return ""
}
