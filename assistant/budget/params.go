package budget

import (
	"math"
	"unicode/utf8"
)

// The defaults of Params, and the limit assumed of a model that tells none.
const (
	DefaultCharsPerToken        = 3.5
	DefaultUserRequestAllowance = 100
	DefaultMaxTrimAttempts      = 10
	UnknownContext              = 32_768
)

// Params are the settings of the estimate and of trimming. The zero value is
// the default of each.
type Params struct {
	CharsPerToken        float64 // CPT: characters a token stands for; 0 means 3.5
	UserRequestAllowance int     // URA: tokens kept free for the next message; 0 means 100, negative none
	MaxTrimAttempts      int     // NTA: pairs one send may drop; 0 means 10, negative none
}

// CPT returns the characters per token in force.
func (p Params) CPT() float64 {
	if p.CharsPerToken > 0 && !math.IsInf(p.CharsPerToken, 1) {
		return p.CharsPerToken
	}
	return DefaultCharsPerToken
}

// URA returns the user request allowance in force, in tokens.
func (p Params) URA() int { return setting(p.UserRequestAllowance, DefaultUserRequestAllowance) }

// NTA returns how many pairs one send may drop.
func (p Params) NTA() int { return setting(p.MaxTrimAttempts, DefaultMaxTrimAttempts) }

func setting(value, standard int) int {
	if value == 0 {
		return standard
	}
	return max(value, 0)
}

// Estimate returns the estimated tokens of text: ⌈characters / CPT⌉.
func (p Params) Estimate(text string) int { return p.EstimateRunes(utf8.RuneCountInString(text)) }

// EstimateRunes is Estimate of a text of n characters.
func (p Params) EstimateRunes(n int) int {
	if n <= 0 {
		return 0
	}
	return int(math.Ceil(float64(n) / p.CPT()))
}

// Estimate is Params.Estimate with the default settings.
func Estimate(text string) int { return Params{}.Estimate(text) }

// Limit is what is known of the limits of a model.
type Limit struct {
	Context int  // context window in tokens; 0 when neither model nor config tells
	TPM     int  // tokens a minute; 0 for no such limit
	Known   bool // Context is the model's own; false shows the limit as ~
}

// ML returns the model limit: the smaller of context window and TPM.
func (l Limit) ML() int {
	ml := l.Context
	if ml <= 0 {
		ml = UnknownContext
	}
	if l.TPM > 0 {
		ml = min(ml, l.TPM)
	}
	return ml
}
