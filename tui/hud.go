package tui

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/tui/overlay"
	"winnow/tui/textwidth"
)

// openHUD opens the numbers of the context; its key closes them again.
func (m *Model) openHUD() tea.Cmd {
	return m.open(overlay.HUD, overlay.NewText("Context", hud{m}.lines()), nil)
}

// hud are the numbers of the context.
type hud struct{ *Model }

// hudNames is how wide the names are where there is room; a narrow screen gives
// them half of it.
const hudNames = 34

// lines are the numbers behind the counter, in groups: those of the boundary and
// of the send that the counter shows.
func (m hud) lines() (out []string) {
	names := min(hudNames, max(4, m.width/2))
	st := m.styles.Overlay
	for i, group := range m.groups() {
		if i > 0 {
			out = append(out, "")
		}
		out = append(out, st.Group.Render(group.name))
		for _, row := range group.rows {
			// The acronym of the telemetry stands behind the words in muted type.
			words, acronym, short := strings.Cut(textwidth.Fit(textwidth.Fit(row.name, names-1, "…"), names, ""), " (")
			if short {
				acronym = st.Muted.Render(" (" + acronym)
			}
			out = append(out, "  "+st.Text.Render(words)+acronym+st.Text.Render(oneLine(fmt.Sprint(row.value))))
		}
	}
	return out
}

type (
	hudGroup struct {
		name string
		rows []hudRow
	}
	hudRow struct {
		name  string
		value any
	}
)

func (m hud) groups() []hudGroup {
	b, set := m.conv.boundary, m.session.Settings().Budget
	computed := fmt.Sprintf("%d times", m.session.Recomputes())
	if m.session.Recomputes() == 1 {
		computed = "once"
	}
	return []hudGroup{
		{"PARAMETERS", []hudRow{
			{"model", safetext.Visible(m.session.Model())},
			{"characters a token (CPT)", set.CPT()},
			{"kept for the next message (URA)", set.URA()},
			{"most trims a send (NTA)", set.NTA()},
		}},
		{"BUDGET", m.budget(m.input.draftCost())},
		{"SELECTION", []hudRow{
			{"filter", filterName(m.session.Filter())},
			{"visible (Y)", b.at.Y},
			{"included (X)", b.at.X},
			{"computed", computed},
		}},
		{"TRIMMING", m.trimming()},
		{"ERROR", m.failure()},
	}
}

func (m hud) budget(cost assistant.DraftCost) []hudRow {
	b, known := m.conv.boundary.at, "~"
	if b.Known {
		known = ""
	}
	rows := []hudRow{
		{"model takes (ML)", known + fmt.Sprint(b.ML)},
		{"system prompt and tools (SYS)", b.SYS},
		{"usable", b.Usable},
		{"history predicted", b.HistoryTokens},
		{"left after that", b.Usable - b.HistoryTokens - b.URA},
		{"the draft (AUT)", "~" + fmt.Sprint(cost.AUT)},
		{"all of it now", "~" + fmt.Sprint(cost.Total)},
	}
	q, _ := m.session.Quota()
	quota := func(name string, left, of int, reset time.Duration) {
		if left >= 0 && of > 0 {
			rows = append(rows, hudRow{name, fmt.Sprintf("%d of %d left, full in %s", left, of, seconds(reset))})
		}
	}
	quota("tokens a minute", q.TokensLeft, q.TokensPerMinute, q.TokensReset)
	quota("requests a minute", q.RequestsLeft, q.RequestsPerMinute, q.RequestsReset)
	if q.Wait > 0 {
		rows = append(rows, hudRow{"the endpoint wants to be left", seconds(q.Wait)})
	}
	return rows
}

// trimming is what became of the last send.
func (m hud) trimming() []hudRow {
	rows := []hudRow{{"counter", m.conv.boundary.counter}}
	last, ok := m.session.LastSend()
	if !ok {
		return append(rows, hudRow{"last send", "none yet"})
	}
	rows = append(rows, hudRow{"last send", fmt.Sprintf("%d of %d pairs included, %s", last.Included, last.Visible, last.Stage)})
	if records := m.session.Records(); len(records) > 0 {
		r := records[len(records)-1]
		rows = append(rows, hudRow{"its attempts", r.AttemptsUsed + 1},
			hudRow{"its history and message", fmt.Sprintf("~%d tokens, ~%d in reserve", r.AttemptTotalTokens, r.RemainingReserve)})
	}
	left := "none"
	if len(last.LeftOut) > 0 {
		left = fmt.Sprintf("%s, ~%d tokens", assistant.Counted(len(last.LeftOut), "pair"), last.Tokens)
	}
	rows = append(rows, hudRow{"left out (T)", left})
	for _, p := range last.LeftOut {
		rows = append(rows, hudRow{"", fmt.Sprintf("~%d  %s", p.Tokens, m.conv.chat.UserText(p.Seq))})
	}
	return rows
}

// failure is why the last attempt failed, and the focused pair.
func (m hud) failure() (rows []hudRow) {
	if records := m.session.Records(); len(records) > 0 && records[len(records)-1].LastErrorMessage != "" {
		r := records[len(records)-1]
		rows = append(rows, hudRow{"last attempt", r.LastErrorMessage},
			hudRow{"taken for an overflow", map[bool]string{true: "yes", false: "no"}[r.OverflowMatched]})
	}
	if p, ok := m.conv.chat.Focused(); ok && p.State == assistant.PairError {
		rows = append(rows, hudRow{p.ErrorCode, p.ErrorMessage})
	}
	if rows == nil {
		return []hudRow{{"last attempt", "no error"}}
	}
	return rows
}

// costKey is what the cost of a draft depends on: the text, what is included,
// and the quota, which is full again some seconds later.
type costKey struct {
	text       string
	recomputes int
	second     time.Time
}

// draftCost is what sending the draft would take. It is computed once for a costKey,
// not for each frame.
func (i *input) draftCost() assistant.DraftCost {
	key := costKey{i.draft.Shown(), i.session.Recomputes(), i.now().Truncate(time.Second)}
	if i.cost.key != key {
		i.cost.key, i.cost.DraftCost = key, i.session.Draft(i.draft.Text())
	}
	return i.cost.DraftCost
}

// estimate is the size of the draft, and what it would do to what is sent with it;
// "" for an empty one.
func (i *input) estimate() string {
	if i.draft.Empty() {
		return ""
	}
	c := i.draftCost()
	text := fmt.Sprintf(" ~%d", c.AUT)
	switch {
	case c.OverBudget:
		text += " · too long for the model"
	case c.OverQuota:
		text += " · over the provider's limit"
	case c.OverReserve && c.Trims > 0:
		text += " · " + assistant.Counted(c.Trims, "old pair") + " will not fit"
	}
	return text + " "
}

// quotaLines are the reasons why the provider would likely refuse a message now.
func quotaLines(c assistant.DraftCost) (lines []string) {
	q := c.Quota
	if q.Wait > 0 {
		lines = append(lines, "It asked for "+seconds(q.Wait)+" without a request.")
	}
	if q.RequestsLeft == 0 {
		lines = append(lines, "No request is left for "+seconds(q.RequestsReset)+".")
	}
	if q.TokensLeft >= 0 && c.Total > q.TokensLeft {
		lines = append(lines, fmt.Sprintf("~%d tokens now, %d left for %s.", c.Total, q.TokensLeft, seconds(q.TokensReset)))
	}
	return lines
}

// seconds is a time for people.
func seconds(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%d s", int(d.Round(time.Second)/time.Second))
	}
	return fmt.Sprintf("%d min %02d s", int(d/time.Minute), int(d%time.Minute/time.Second))
}
