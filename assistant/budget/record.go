package budget

import "encoding/json"

// Record is the telemetry of one attempt. Its JSON names are part of the specification;
// lists are never null.
type Record struct {
	Model                  string     `json:"model"` // provider/name
	Budget                 Budget     `json:"budget"`
	Selection              []Selected `json:"selection"`                 // the included pairs, oldest first
	PredictedMessageCount  int        `json:"predictedMessageCount"`     // X
	PredictedHistoryTokens int        `json:"predictedHistoryTokens"`    // HistoryTokens of the Boundary; the same for all attempts of a send
	PredictedTotalTokens   int        `json:"predictedTotalTokens"`      // including URA
	AttemptHistoryTokens   int        `json:"attemptHistoryTokens"`      // never grows within a send
	AttemptTotalTokens     int        `json:"attemptTotalTokens"`        // including AUT and the running turn
	AUT                    int        `json:"AUT"`                       // the user's text
	TrimmedCount           int        `json:"trimmedCount"`              // T
	TrimmingRemoved        []Selected `json:"trimmingRemoved,omitempty"` // the T pairs left out, oldest first
	TrimmingRemovedTokens  int        `json:"trimmingRemovedTokens,omitempty"`
	AttemptsUsed           int        `json:"attemptsUsed"` // pairs dropped for this response, ≤ NTA
	CharsPerToken          float64    `json:"charsPerToken"`
	RemainingReserve       int        `json:"remainingReserve"` // usable − attemptTotalTokens
	Stage                  Stage      `json:"stage"`
	LastErrorMessage       string     `json:"lastErrorMessage,omitempty"`
	OverflowMatched        bool       `json:"overflowMatched,omitempty"`
	Messages               []Message  `json:"messages"` // empty unless message bodies were requested
}

// Budget is the part of a Record that depends on the model.
type Budget struct {
	MaxContext   int `json:"maxContext"`   // ML
	MaxUsableRaw int `json:"maxUsableRaw"` // ML − SYS
}

// Selected is one included pair.
type Selected struct {
	ID     string `json:"id"`
	Model  string `json:"model"`
	Tokens int    `json:"tokens"`
}

// Message is one message as it was sent.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// MarshalJSON writes empty lists as [].
func (r Record) MarshalJSON() ([]byte, error) {
	type plain Record
	p := plain(r)
	if p.Selection == nil {
		p.Selection = []Selected{}
	}
	if p.Messages == nil {
		p.Messages = []Message{}
	}
	return json.Marshal(p)
}
