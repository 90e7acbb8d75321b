package status

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"winnow/assistant"
	"winnow/assistant/budget"
	"winnow/assistant/llm"
	"winnow/assistant/safetext"
	"winnow/tui/overlay"
	"winnow/tui/style"
)

// ContextNumbers holds the values that Lines shows.
type ContextNumbers struct {
	State    assistant.State
	Now      time.Time
	Boundary budget.Boundary
	Counter  string
	Draft    assistant.DraftCost
	Session  []Row                  // the cost of the session's answers
	Focused  assistant.Pair         // the zero value means that no pair has the focus
	UserText func(seq int64) string // the message of a pair, as one line
}

// Row is a line with a name and its value.
type Row struct{ Name, Value string }

const (
	// nameWidth is the width of the names, narrowNameWidth on a screen narrower than narrow.
	// Such a screen shows a long value on the next line.
	nameWidth, narrowNameWidth = 34, 24
	narrow                     = 60
	maxValueWidth              = 500 // in cells
)

// Lines formats the numbers for a screen of w cells, in groups. The numbers of the next
// request come before those of the last one.
func (n ContextNumbers) Lines(w int, st style.Overlay) (out []string) {
	group := func(name string) { out = append(out, "", st.Group.Render(name)) }
	row := func(name string, value any) {
		words := style.Fit(style.Fit(name, nameWidth-1, "…"), nameWidth, "")
		text := safetext.Line(fmt.Sprint(value), maxValueWidth)
		if w >= narrow {
			for i, part := range style.Wrap(string(text), overlay.InnerWidth(w)-2-nameWidth) {
				if i > 0 {
					words = strings.Repeat(" ", nameWidth)
				}
				out = append(out, "  "+st.Text.Render(words+part))
			}
			return
		}
		line := "  " + style.Fit(strings.TrimRight(words, " "), narrowNameWidth, "…")
		if inside := w * 4 / 5; style.Width(line+string(text)) > inside {
			out = append(out, st.Text.Render(strings.TrimRight(line, " ")))
			for _, part := range style.Wrap(string(text), inside-4) {
				out = append(out, st.Text.Render("    "+part))
			}
			return
		}
		out = append(out, st.Text.Render(line+string(text)))
	}
	b, params := n.Boundary, n.State.Turn.Settings.Budget
	group("PARAMETERS")
	row("model", safetext.Visible(n.State.Model.ID))
	row("characters per token", params.CPT())
	row("kept for your message", params.URA())
	row("messages dropped to fit", fmt.Sprintf("at most %d", params.NTA()))
	group("BUDGET")
	n.budget(row)
	group("SESSION")
	for _, r := range n.Session {
		row(r.Name, r.Value)
	}
	group("SELECTION")
	row("filter", filterWords(n.State.Shown.Filter))
	row("messages shown", b.Y)
	row("of them sent", b.X)
	row("boundary computed", assistant.Counted(n.State.Shown.Computed, "time"))
	group("TRIMMING")
	row("sent of shown", n.Counter)
	n.trimming(row)
	group("ERROR")
	n.failure(row)
	return out[1:]
}

// filterWords returns a filter line, with an explanation for the initial filter x and for "".
func filterWords(line string) string {
	if line == "x" {
		return "x: this session"
	}
	return cmp.Or(line, "none: all messages")
}

func (n ContextNumbers) budget(row func(name string, value any)) {
	b, cost, approximately := n.Boundary, n.Draft, "~"
	if b.Known {
		approximately = ""
	}
	row("context of the model", approximately+fmt.Sprint(b.ML))
	if from := n.State.Model.Info.LimitFrom(); from != "" {
		row("known from", from)
	}
	row("system prompt and tools", b.SYS)
	row("left for messages", b.Usable)
	row("taken by the messages", b.HistoryTokens)
	row("left for more messages", b.Usable-b.HistoryTokens-b.URA)
	row("the draft", fmt.Sprintf("~%d", cost.AUT))
	row("total with the draft", fmt.Sprintf("~%d", cost.Total))
	q, ok := n.State.Turn.Quota.LeftAt(n.Now), n.State.Turn.Quota != llm.LastQuota{}
	quota := func(name string, left, limit int, reset time.Duration) {
		if ok && left >= 0 && limit > 0 {
			row(name, fmt.Sprintf("%d of %d left, full again in %s", left, limit, reset.Round(time.Second)))
		}
	}
	quota("tokens per minute", q.TokensLeft, q.TokensPerMinute, q.TokensReset)
	quota("requests per minute", q.RequestsLeft, q.RequestsPerMinute, q.RequestsReset)
	if q.Wait > 0 {
		row("wait before the next request", q.Wait.Round(time.Second))
	}
}

// Refusals returns a sentence for each reason why the endpoint would probably reject a message
// now.
func Refusals(c assistant.DraftCost) (lines []string) {
	q := c.Quota
	if q.Wait > 0 {
		lines = append(lines, fmt.Sprintf("The endpoint asked winnow to wait %s before the next request.", q.Wait.Round(time.Second)))
	}
	if q.RequestsLeft == 0 {
		lines = append(lines, fmt.Sprintf("No requests are left for the next %s.", q.RequestsReset.Round(time.Second)))
	}
	if q.TokensLeft >= 0 && c.Total > q.TokensLeft {
		lines = append(lines, fmt.Sprintf("The request takes ~%d tokens, but only %d are left for the next %s.", c.Total, q.TokensLeft, q.TokensReset.Round(time.Second)))
	}
	return lines
}

// stageWords says how a request ended.
var stageWords = map[budget.Stage]string{
	budget.StageSent: "waiting for the answer", budget.StageComplete: "answered", budget.StageError: "failed",
	budget.StageInitial: "too long for the model", budget.StageRetry: "too long for the model", budget.StageExhausted: "too long for the model",
	budget.StagePromptSize: "the message is too long",
}

// trimming adds rows about what the last request included and left out.
func (n ContextNumbers) trimming(row func(name string, value any)) {
	last := n.State.Shown.LastSend
	if last == nil {
		row("last request", "none yet")
		return
	}
	row("last request", fmt.Sprintf("%d of %d messages sent, %s", last.Included, last.Visible, stageWords[last.Stage]))
	if r := n.State.Turn.Attempt; r != nil {
		row("its attempts", r.AttemptsUsed+1)
		row("its history and message", fmt.Sprintf("~%d tokens, ~%d in reserve", r.AttemptTotalTokens, r.RemainingReserve))
	}
	left := "none"
	if len(last.LeftOut) > 0 {
		left = fmt.Sprintf("%s, ~%d tokens", assistant.Counted(len(last.LeftOut), "message"), last.Tokens)
	}
	row("left out to fit", left)
	for _, p := range last.LeftOut {
		row("", fmt.Sprintf("~%d  %s", p.Tokens, n.UserText(p.Seq)))
	}
}

// failure adds rows that say why the last attempt and the focused pair failed, if they did.
func (n ContextNumbers) failure(row func(name string, value any)) {
	var r budget.Record
	if last := n.State.Turn.Attempt; last != nil {
		r = *last
	}
	failed := n.Focused.State == assistant.PairError
	if r.LastErrorMessage != "" {
		row("last request", r.LastErrorMessage)
		overflow := "no"
		if r.OverflowMatched {
			overflow = "yes"
		}
		row("treated as an overflow", overflow)
	} else if !failed {
		row("last request", "no error")
	}
	if failed {
		row(n.Focused.ErrorCode, n.Focused.ErrorMessage)
	}
}
