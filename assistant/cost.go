package assistant

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"winnow/assistant/attachment"
	"winnow/assistant/budget"
	"winnow/assistant/llm"
	"winnow/assistant/markup"
	"winnow/assistant/message"
	"winnow/assistant/safetext"
)

// PairParts returns the texts that a pair adds to a request, each estimated
// separately: the user's text, the text of each response, and the arguments and
// result of each call.
func PairParts(p *Pair) []string {
	var parts []string
	for _, m := range PairMessages(p) {
		switch m := m.(type) {
		case *message.Text:
			parts = append(parts, m.Text)
		case *message.ToolCall:
			if m.Message != "" {
				parts = append(parts, m.Message)
			}
			parts = append(parts, string(m.Arguments), m.Content())
		case *message.Agent:
			parts = append(parts, m.Text)
		}
	}
	return parts
}

// PairCost estimates the tokens that a pair adds to a request. The tokens of a
// text are its runes divided by charsPerToken, rounded up; the tokens of the
// pictures are added.
func PairCost(p *Pair, charsPerToken float64) int {
	sum := attachment.Tokens(p.Attachments)
	for _, part := range PairParts(p) {
		sum += budget.Params{CharsPerToken: charsPerToken}.Estimate(part)
	}
	return sum
}

// PairContributes reports whether the pair contributes messages to a request.
func PairContributes(p *Pair) bool { return len(PairMessages(p)) > 0 }

// PairMessages returns the messages that a pair contributes to a request: the
// user's text, the calls and the assistant's text. Empty texts are left out. A
// pair that ended in an error contributes the user's text and its complete
// responses, or nothing if no response was complete. A running or partial pair
// contributes nothing.
func PairMessages(p *Pair) []message.Message {
	failed := p.State == PairError
	if p.State == PairSending || p.State == PairPartial || (failed && len(p.ToolCalls) == 0) {
		return nil
	}
	var out []message.Message
	if strings.TrimSpace(string(p.UserText)) != "" {
		out = append(out, &message.Text{Text: string(p.UserText), Role: llm.RoleUser, Pictures: attachment.Pictures(p.Attachments)})
	}
	texts, last := splitAtCards(p.AssistantText, p.ToolCalls)
	response := -1
	for i, c := range p.ToolCalls {
		if c.Result == nil {
			continue // cancelled before it ran: its response was incomplete
		}
		m := callMessage(c)
		if c.Response != response {
			response = c.Response
			m.Message, m.Joined = texts[i], false
		}
		out = append(out, m)
	}
	if last != "" && !failed {
		out = append(out, &message.Text{Text: last, Role: llm.RoleAssistant})
	}
	return out
}

// loadPictures reads the pictures of the request. A model known not to accept
// images gets the names of the pictures instead.
func (t *turn) loadPictures() error {
	store, stored := t.s.opts.Store.(PictureStore)
	for _, m := range *t.list {
		text, ok := m.(*message.Text)
		if !ok {
			continue
		}
		for i, f := range text.Pictures {
			switch {
			case t.info.Vision == llm.Unable:
				text.Text += fmt.Sprintf("\n\n[The picture %s is not sent: this model cannot see pictures.]", f.Name)
			case f.Data == nil && stored:
				data, err := store.Picture(t.ctx, f.Hash)
				if err != nil {
					return fmt.Errorf("the picture %s could not be read: %w", f.Name, err)
				}
				text.Pictures[i].Data = data
			}
		}
		if t.info.Vision == llm.Unable {
			text.Pictures = nil
		}
	}
	return nil
}

// splitAtCards splits text at its card markers into the text before each call
// and the text after the last one. Silent calls have no marker.
func splitAtCards(text safetext.Text, calls []ToolCall) (before []string, last string) {
	before = make([]string, len(calls))
	var shown []int // indices of the calls that have a card
	for i, c := range calls {
		if !c.Silent {
			shown = append(shown, i)
		}
	}
	var pending strings.Builder
	for _, p := range markup.Pieces(text, len(shown)) {
		if p.Call < 0 {
			pending.WriteString(string(p.Text))
			continue
		}
		before[shown[p.Call]] = strings.TrimSpace(pending.String())
		pending.Reset()
	}
	return before, strings.TrimSpace(pending.String())
}

// callMessage returns the message for a call that has a result, marked as
// belonging to the same response as the call before it.
func callMessage(c ToolCall) *message.ToolCall {
	m := &message.ToolCall{ToolName: c.Name, ToolCallID: c.ID, Arguments: c.Arguments, Joined: true}
	m.Result = encodeResult(*c.Result)
	if !c.Result.Success {
		m.Error = &c.Result.Message
	}
	return m
}

// maxResultRunes limits what one result may add to a request. This is about
// 9,000 tokens, so that five results still leave room in a context window of
// 128,000 tokens.
const maxResultRunes = 32_000

// encodeResult encodes a result for the model. A payload is sent without its
// data. If the result is too long, its data and message are cut. Data that was
// cut, or could not be encoded, is replaced by an object with a note.
func encodeResult(r ToolResult) json.RawMessage {
	shown := r
	if r.Payload != nil {
		shown.Payload = &Payload{ID: r.Payload.ID, Type: r.Payload.Type, Summary: r.Payload.Summary}
	}
	raw, err := PlainJSON(shown)
	if err == nil && utf8.RuneCount(raw) <= maxResultRunes {
		return raw
	}
	shown.Data = map[string]any{"truncated": true, "note": "the data could not be encoded and was left out"}
	if err == nil {
		all, _ := PlainJSON(r.Data)
		shown.Data = map[string]any{
			"truncated": true, "note": "the data was cut to fit; ask for less at a time",
			"beginning": cutRunes(string(all), maxResultRunes/2),
		}
	}
	shown.Message = cutRunes(shown.Message, maxResultRunes/4)
	raw, _ = PlainJSON(shown)
	return raw
}

func cutRunes(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n]) + "…"
}

// UpperFirst returns text with its first letter in upper case.
func UpperFirst[S ~string](text S) S {
	first, size := utf8.DecodeRuneInString(string(text))
	if size == 0 {
		return ""
	}
	return S(unicode.ToUpper(first)) + text[size:]
}

// Counted returns a number with its noun: "1 pair", "3 pairs". thing is the
// singular of a noun with a regular plural in s.
func Counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// TokenCount formats a number of tokens: "812 tokens", "1.3k tokens".
func TokenCount(n int) string {
	if n < thousand {
		return Counted(n, "token")
	}
	return fmt.Sprintf("%.1fk tokens", float64(n)/thousand)
}

// Dollars formats a price in US dollars: "$0.004", "$2.50". A positive price
// below $0.001 is written as "< $0.001".
func Dollars(usd float64) string {
	const least = 0.001
	switch {
	case usd >= 1 || usd <= 0:
		return fmt.Sprintf("$%.2f", max(usd, 0))
	case usd < least:
		return fmt.Sprintf("< $%.3f", least)
	}
	return fmt.Sprintf("$%.3f", usd)
}

// Seconds formats a duration for people: "4.2 s", "1m30s".
func Seconds(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}

const thousand = 1000
