package condition

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"winnow/adapters/modelfilter/usage"
	"winnow/assistant/glob"
	"winnow/assistant/llm"
)

// match evaluates one word for a model.
type match = func(*Model, time.Time) Answer

// keyword is a word of the vocabulary. Exactly one of flag, compare and text is set.
type keyword struct {
	name, example, help string

	flag    func(*Model) Answer                                              // tools
	compare func(operator, value string) (m match, canonical, reason string) // price>10; reason is why value is invalid, or ""
	text    func(value string) (m match, canonical, reason string)           // status:preview; likewise
}

// keywords is the vocabulary, in the order in which it is listed.
var keywords = []keyword{
	{name: "price", example: "price>10", help: "output price, dollars per million tokens", compare: number(func(m *Model) (float64, bool) { return m.Info.Facts.PriceOut.USD, m.Info.Facts.PriceOut.Known })},
	{name: "price_in", example: "price_in<1", help: "input price, dollars per million tokens", compare: number(func(m *Model) (float64, bool) { return m.Info.Facts.PriceIn.USD, m.Info.Facts.PriceIn.Known })},
	{name: "ctx", example: "ctx>=100k", help: "context window in tokens", compare: number(func(m *Model) (float64, bool) { return float64(m.Info.Context), m.Info.Context > 0 && m.Info.Known })},
	{name: "tools", example: "tools", help: "calls tools", flag: func(m *Model) Answer { return able(m.Info.Facts.ToolCalls) }},
	{name: "vision", example: "!vision", help: "accepts images", flag: func(m *Model) Answer { return able(m.Info.Vision) }},
	{name: "reasoning", example: "reasoning", help: "can reason", flag: func(m *Model) Answer { return able(m.Info.Facts.Reasoning) }},
	{name: "structured", example: "structured", help: "can follow a JSON schema in its answers", flag: func(m *Model) Answer { return able(m.Info.Facts.Structured) }},
	{name: "unused", example: "unused:30d", help: "not used for that long (units: min, h, d, w, mo, y)", text: age(func(u usage.Use, since time.Time) bool { return !u.Last.After(since) })},
	{name: "used", example: "used:7d", help: "used within that time", text: age(func(u usage.Use, since time.Time) bool { return u.Last.After(since) })},
	{name: "requests", example: "requests>100", help: "requests since the proxy began to count", compare: number(func(m *Model) (float64, bool) { return float64(m.Use.Requests), m.UseKnown })},
	{name: "released", example: "released<2025-01-01", help: "release date", compare: date},
	{name: "status", example: "status:deprecated", help: "active, preview or deprecated", text: status},
	{name: "family", example: "family:gpt", help: "model family", text: fact(func(m *Model) string { return m.Info.Facts.Family })},
	{name: "kind", example: "kind:chat", help: "chat, embedding, image or audio", text: fact(func(m *Model) string { return m.Info.Facts.Kind })},
	{name: "name", example: "name:*mini*", help: "name, matched as a rule matches; name: may be left out", text: func(value string) (match, string, string) { return nameMatch(value), value, "" }},
	{name: "hidden", example: "hidden", help: "hidden by the rules", flag: func(m *Model) Answer { return answerOf(m.Hidden) }},
	{name: "shown", example: "shown", help: "not hidden", flag: func(m *Model) Answer { return answerOf(!m.Hidden) }},
	{name: "allowed", example: "allowed", help: "shown by an allow rule", flag: func(m *Model) Answer { return answerOf(m.Allowed) }},
	{name: "new", example: "new", help: "first listed after your last look", flag: func(m *Model) Answer { return answerOf(m.New) }},
}

// Word is a word of the vocabulary, for help and completion.
type Word struct{ Example, Help string }

// Words lists the vocabulary.
func Words() []Word {
	var words []Word
	for _, k := range keywords {
		words = append(words, Word{k.example, k.help})
	}
	return words
}

func able(a llm.Ability) Answer {
	switch a {
	case llm.Able:
		return Yes
	case llm.Unable:
		return No
	}
	return Unknown
}

func nameMatch(pattern string) match {
	p := glob.Compile(pattern)
	return func(m *Model, _ time.Time) Answer { return answerOf(p.MatchID(m.Info.ID)) }
}

// number returns keyword.compare for a numeric property of a model.
func number(of func(*Model) (n float64, known bool)) func(operator, value string) (match, string, string) {
	return func(operator, value string) (match, string, string) {
		limit, err := amount(value)
		if err != nil {
			return nil, "", fmt.Sprintf("%q is not a number; write 10, 0.5, 100k or 1m", value)
		}
		return func(m *Model, _ time.Time) Answer {
			n, known := of(m)
			if !known {
				return Unknown
			}
			return answerOf(compare(operator, n, limit))
		}, strconv.FormatFloat(limit, 'f', -1, 64), ""
	}
}

func compare(operator string, n, limit float64) bool {
	switch operator {
	case ">":
		return n > limit
	case ">=":
		return n >= limit
	case "<":
		return n < limit
	case "<=":
		return n <= limit
	}
	return n == limit
}

// amount parses 10, 0.5, $10, 100k or 1m.
func amount(text string) (float64, error) {
	text = strings.ToLower(strings.TrimPrefix(text, "$"))
	factor := 1.0
	if number, ok := strings.CutSuffix(text, "k"); ok {
		text, factor = number, 1e3
	} else if number, ok := strings.CutSuffix(text, "m"); ok {
		text, factor = number, 1e6
	}
	if strings.Trim(text, "0123456789.") != "" {
		return 0, strconv.ErrSyntax
	}
	n, err := strconv.ParseFloat(text, 64)
	if n *= factor; err == nil && math.IsInf(n, 0) {
		err = strconv.ErrRange
	}
	return n, err
}

// fact returns keyword.text for a textual fact about a model. The case of the value is ignored.
func fact(of func(*Model) string) func(value string) (match, string, string) {
	return func(value string) (match, string, string) {
		want := llm.Word(value)
		if want == "" {
			return nil, "", "only letters, digits and - _ . + / are allowed"
		}
		return func(m *Model, _ time.Time) Answer {
			if of(m) == "" {
				return Unknown
			}
			return answerOf(of(m) == want)
		}, want, ""
	}
}

func status(value string) (match, string, string) {
	want := llm.StatusOf(value)
	if want == "" {
		return nil, "", "the status must be active, preview or deprecated"
	}
	return func(m *Model, _ time.Time) Answer {
		if m.Info.Facts.Status == "" {
			return Unknown
		}
		return answerOf(m.Info.Facts.Status == want)
	}, string(want), ""
}

// age returns keyword.text for a condition on a model's use within an age, such as 30d, 12h or 30.
func age(holds func(u usage.Use, since time.Time) bool) func(value string) (match, string, string) {
	return func(value string) (match, string, string) {
		since, canonical, ok := ago(value)
		if !ok {
			return nil, "", fmt.Sprintf("%q is not an age; write 30d, 12h, 6w, 3mo or 1y", value)
		}
		return func(m *Model, now time.Time) Answer {
			if !m.UseKnown {
				return Unknown
			}
			return answerOf(holds(m.Use, since(now)))
		}, canonical, ""
	}
}

// maxAge limits the number in an age, so that no date overflows.
const maxAge = 100_000

// ago parses an age: a number and a unit, by default days. since returns the time that long
// before now.
func ago(text string) (since func(now time.Time) time.Time, canonical string, ok bool) {
	digits := strings.TrimRight(strings.ToLower(text), "abcdefghijklmnopqrstuvwxyz")
	n, err := strconv.Atoi(digits)
	if err != nil || n < 0 || n > maxAge {
		return nil, "", false
	}
	unit := strings.ToLower(text)[len(digits):]
	back := func(years, months, days int, d time.Duration) func(time.Time) time.Time {
		return func(now time.Time) time.Time {
			return now.AddDate(-years*n, -months*n, -days*n).Add(-time.Duration(n) * d)
		}
	}
	switch unit {
	case "min":
		since = back(0, 0, 0, time.Minute)
	case "h":
		since = back(0, 0, 0, time.Hour)
	case "d", "":
		unit, since = "d", back(0, 0, 1, 0)
	case "w":
		since = back(0, 0, 7, 0)
	case "mo":
		since = back(0, 1, 0, 0)
	case "y":
		since = back(1, 0, 0, 0)
	default:
		return nil, "", false
	}
	return since, strconv.Itoa(n) + unit, true
}

// date compares the release date, which may be a day, a month or a year. A comparison that
// depends on a missing month or day is Unknown.
func date(operator, value string) (match, string, string) {
	from, to, ok := span(value)
	if !ok {
		return nil, "", fmt.Sprintf("%q is not a date; write 2025-01-31, 2025-01 or 2025", value)
	}
	return func(m *Model, _ time.Time) Answer {
		start, end, known := span(m.Info.Facts.Released)
		if !known {
			return Unknown
		}
		switch operator {
		case "<":
			return decide(!end.After(from), !start.Before(from))
		case "<=":
			return decide(!end.After(to), !start.Before(to))
		case ">":
			return decide(!start.Before(to), !end.After(to))
		case ">=":
			return decide(!start.Before(from), !end.After(from))
		}
		return decide(!start.Before(from) && !end.After(to), !end.After(from) || !start.Before(to))
	}, llm.Date(value), ""
}

func decide(yes, no bool) Answer {
	switch {
	case yes:
		return Yes
	case no:
		return No
	}
	return Unknown
}

// span returns the start of a date and the first instant after it.
func span(text string) (from, to time.Time, ok bool) {
	date := llm.Date(text)
	for _, layout := range []struct {
		form                string
		years, months, days int
	}{{time.DateOnly, 0, 0, 1}, {"2006-01", 0, 1, 0}, {"2006", 1, 0, 0}} {
		if from, err := time.Parse(layout.form, date); err == nil {
			return from, from.AddDate(layout.years, layout.months, layout.days), true
		}
	}
	return from, to, false
}
