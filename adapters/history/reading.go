package history

import (
	"context"
	"fmt"
	"slices"
	"unicode/utf8"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/safetext"
)

// Limits on what the reading tools return.
const (
	maxTextChars    = 20_000 // maximum characters of each text of a pair
	maxCallChars    = 1_000  // maximum characters of the arguments and of the result of a tool call
	maxTopics       = 500
	defaultSessions = 20 // if the call does not specify a limit
	maxSessions     = 200
)

type getArgs struct {
	ID int64 `json:"id" jsonschema:"number of the pair"`
}

// pairDetail is a pair as get_pair returns it.
type pairDetail struct {
	PairLine
	Asked     string     `json:"user_text"`
	Answered  string     `json:"assistant_text"`
	Reasoning string     `json:"reasoning,omitempty"`
	Error     string     `json:"error_message,omitempty"`
	Calls     []toolCall `json:"tool_calls,omitempty"`
	Files     []string   `json:"attachments,omitempty"`
	Truncated bool       `json:"truncated,omitempty"` // true if texts were truncated
}

type toolCall struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Success   bool   `json:"success"`
	Message   string `json:"message"`
}

func (w *Window) getPair(ctx context.Context, a getArgs) (assistant.ToolResult, error) {
	s, err := w.selectPairs(ctx, pairArgs{IDs: []int64{a.ID}})
	if err != nil {
		return assistant.ToolResult{}, err
	}
	loaded, err := w.store.Load(ctx, s.pairs)
	if err != nil || len(loaded) == 0 {
		return assistant.ToolResult{}, err
	}
	p := loaded[0]
	v := pairDetail{PairLine: pairLine(p)}
	for _, t := range []struct {
		from safetext.Text
		to   *string
	}{{p.UserText, &v.Asked}, {p.AssistantText, &v.Answered}, {p.Reasoning, &v.Reasoning}, {p.ErrorMessage, &v.Error}} {
		cut := false
		*t.to, cut = head(t.from, maxTextChars)
		v.Truncated = v.Truncated || cut
	}
	for _, c := range p.ToolCalls {
		call := toolCall{Name: oneLine(c.Name)}
		call.Arguments, _ = head(string(c.Arguments), maxCallChars)
		if c.Result != nil {
			call.Success = c.Result.Success
			call.Message, _ = head(c.Result.Message, maxCallChars)
		}
		v.Calls = append(v.Calls, call)
	}
	for _, f := range p.Attachments {
		v.Files = append(v.Files, oneLine(f.Name))
	}
	return assistant.OK(fmt.Sprintf("message %d from %s", p.Seq, v.At), v), nil
}

// head returns the beginning of a text, sanitised; cut reports whether the text was truncated.
func head[S ~string](text S, runes int) (out string, cut bool) {
	out = string(text)
	if utf8.RuneCountInString(out) > runes {
		out, cut = string([]rune(out)[:runes-1])+"…", true
	}
	return string(safetext.Clean(out)), cut
}

type topicsArgs struct {
	Under string `json:"under,omitempty" jsonschema:"list only the topic with this path and the topics below it"`
}

func (w *Window) listTopics(ctx context.Context, a topicsArgs) (assistant.ToolResult, error) {
	now, err := w.readMarks(ctx)
	if err != nil {
		return assistant.ToolResult{}, err
	}
	under, found := now.topic(a.Under)
	if under != "" && !found {
		return assistant.ToolResult{}, now.unknownTopic(under)
	}
	list := now.below(under)
	data := map[string]any{"count": len(list), "topics": list[:min(len(list), maxTopics)], "truncated": len(list) > maxTopics}
	if under == "" {
		data["pairs_without_topic"] = len(now.byMark[mark{topics, ""}])
	}
	return assistant.OK(assistant.Counted(len(list), "topic"), data), nil
}

type sessionsArgs struct {
	Limit int `json:"limit,omitempty" jsonschema:"how many, most recently used first; default 20, at most 200"`
}

// sessionLine is a session as list_sessions returns it.
type sessionLine struct {
	ID      string `json:"id"`
	Started string `json:"started"`
	Used    string `json:"last_used"`
	Pairs   int    `json:"pairs"`
	Current bool   `json:"this_session,omitempty"`
	First   int64  `json:"first_id"`
	Began   string `json:"began_with"` // the beginning of the first message
}

// sessions lists the sessions that have pairs, most recently used first.
func (w *Window) sessions(ctx context.Context) ([]history.Session, error) {
	all, err := w.store.Sessions(ctx)
	return slices.DeleteFunc(all, func(s history.Session) bool { return s.Pairs == 0 }), err
}

func (w *Window) listSessions(ctx context.Context, a sessionsArgs) (assistant.ToolResult, error) {
	all, err := w.sessions(ctx)
	if err != nil {
		return assistant.ToolResult{}, err
	}
	limit := a.Limit
	if limit <= 0 {
		limit = defaultSessions
	}
	listed := all[:min(len(all), limit, maxSessions)]
	current := w.selected().Session
	list := make([]sessionLine, 0, len(listed))
	for _, s := range listed {
		list = append(list, sessionLine{
			ID: oneLine(s.ID), Started: s.Started.Format(timeLayout), Used: s.Used.Format(timeLayout),
			Pairs: s.Pairs, Current: s.ID == current, First: s.First, Began: string(safetext.Line(s.Title, maxUserCells)),
		})
	}
	data := map[string]any{"count": len(all), "sessions": list, "truncated": len(list) < len(all)}
	return assistant.OK(assistant.Counted(len(all), "session"), data), nil
}

// Limits on what summarise_pairs returns.
const (
	summaryTokens    = 4_000 // if the call does not specify a limit
	maxSummaryTokens = 12_000
	minPairTokens    = 60 // a smaller part of a pair would be useless
	userPercent      = 35 // the percentage of a pair's share for the user's text; the rest is for the answer
)

type summariseArgs struct {
	pairArgs
	Tokens int `json:"tokens,omitempty" jsonschema:"how much to return, in estimated tokens; default 4000, at most 12000"`
}

// condensed is a pair truncated to its share of the tokens.
type condensed struct {
	ID        int64  `json:"id"`
	User      string `json:"user"`
	Assistant string `json:"assistant"`
	Cut       bool   `json:"cut,omitempty"`
}

func (w *Window) summarisePairs(ctx context.Context, a summariseArgs) (assistant.ToolResult, error) {
	s, err := w.selectPairs(ctx, a.pairArgs)
	if err != nil {
		return assistant.ToolResult{}, err
	}
	tokens := min(a.Tokens, maxSummaryTokens)
	if tokens <= 0 {
		tokens = summaryTokens
	}
	fit := max(1, tokens/minPairTokens)
	loaded, err := w.store.Load(ctx, newestFirst(s.pairs, fit))
	if err != nil {
		return assistant.ToolResult{}, err
	}
	slices.Reverse(loaded)
	list, cut := condense(loaded, tokens)
	message := assistant.Counted(len(list), "message") + " to summarise"
	if cut > 0 {
		message += fmt.Sprintf(", %d of them truncated", cut)
	}
	if left := len(s.pairs) - len(list); left > 0 {
		message += fmt.Sprintf("; %s did not fit: select fewer messages at a time", assistant.Counted(left, "older message"))
	}
	data := map[string]any{"count": len(s.pairs), "pairs": list, "truncated": len(list) < len(s.pairs)}
	return assistant.OK(message+s.remarks(), data), nil
}

// condense truncates pairs to equal shares of the tokens, and counts the truncated pairs. Tokens that a short pair does
// not use are shared by the pairs after it.
func condense(pairs []assistant.Pair, tokens int) (list []condensed, cut int) {
	room := estimateChars(tokens) // characters left
	for i, p := range pairs {
		share, c := room/(len(pairs)-i)-len(","), condensed{}
		for limit := share; c.ID == 0 || jsonChars(c) > share && limit > 0; limit = limit * 9 / 10 {
			forUser := max(limit*userPercent/100, limit-utf8.RuneCountInString(string(p.AssistantText)), 1)
			user, cutUser := head(p.UserText, forUser)
			answer, cutAnswer := head(p.AssistantText, max(limit-utf8.RuneCountInString(user), 1))
			c = condensed{p.Seq, user, answer, cutUser || cutAnswer}
		}
		if c.Cut {
			cut++
		}
		room -= jsonChars(c) + len(",")
		list = append(list, c)
	}
	return list, cut
}
