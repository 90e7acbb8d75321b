package filter

import "testing"

func TestDescribe(t *testing.T) {
	for line, want := range map[string]string{
		"":                          "all messages",
		"x":                         "messages in this session",
		"x c'hide'":                 "messages in this session, with “hide”",
		"c'a*b'":                    "messages with “a*b”",
		"c'*'":                      "messages with any text",
		"hide every mini":           "messages with the words hide, every, mini",
		"mini":                      "messages with the word mini",
		"s2 | s>=1 & g":             "messages with 2 stars or with at least 1 star, not flagged",
		"(s0 | e) !b":               "messages (without stars or that ended in an error), not flagged",
		"!(b i)":                    "messages not (flagged, with attachments)",
		"t'AI > Agents...' t t4":    "messages in topic AI > Agents and below, in the selected topic, among the last 4 in the selected topic",
		"t'*AI*'":                   "messages in topic *AI*",
		"m m'gpt*' u u'anna' r3":    "messages from the selected model, from model gpt*, by you, by anna, among the last 3",
		"d<7d d>1w d>=2mo d<=1y":    "messages newer than 7 days, older than 1 week, at least 2 months old, at most 1 year old",
		"d2026-03-04 | d>=26-03-05": "messages on 2026-03-04 or since 2026-03-05",
		"c/a.b/ x'0aef' o o3":       "messages matching /a.b/, in session 0aef, that are sent, that are sent, plus 3 before them",
		"!e !o !o1":                 "messages that did not end in an error, that are not sent, other than those sent and 1 before them",
		"@mine":                     "messages matching the saved filter @mine",
		"c'a\x1bb'":                 "messages with “a‹U+001B›b”",
	} {
		q, err := Parse(line)
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if got := Describe(q.Expr); got != want {
			t.Errorf("Describe(%s) = %q, want %q", line, got, want)
		}
	}
}
