package offline

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// reversal is a call that takes another one back.
type reversal struct {
	tool string
	args args
}

// undoPast takes back what the last turn changed, the newest change first. What
// the tools told of how it was before makes that exact; it cannot roll back
// itself, and says which key does where that is needed.
func (t *turn) undoPast() {
	const keys = "I cannot roll back by myself: press `ctrl+z`, or open the checkpoints (`ctrl+g`) and pick the one before it."
	calls := t.lastPastWrites()
	if len(calls) == 0 {
		t.say("I see no change of mine in this conversation to take back. %s", keys)
		return
	}
	for _, c := range slices.Backward(calls) {
		back, ok := reverseOf(c)
		if !ok {
			t.say("%s cannot be taken back step by step. %s", sentenceCase(strings.ReplaceAll(c.name, "_", " ")), keys)
			return
		}
		for _, r := range back {
			t.told(t.do(r.tool, r.args), "take back "+strings.ReplaceAll(c.name, "_", " "))
		}
	}
}

// pastWrites are the tools that change something.
var pastWrites = set("star_pairs flag_pairs set_topic rename_topic move_topic delete_topic save_filter forget_filter")

// lastPastWrites finds the newest earlier exchange with changes that no later
// "undo" has taken back.
func (t *turn) lastPastWrites() []*call {
	skip := 0
	for _, x := range reversed(t.past) {
		var calls []*call
		for _, c := range x.calls {
			if c.res != nil && c.res.Success && pastWrites[c.name] {
				calls = append(calls, c)
			}
		}
		switch steps := readPast(x.user); {
		case len(calls) == 0:
		case len(steps) == 1 && steps[0].verb == pastUndo:
			skip++
		case skip > 0:
			skip--
		default:
			return calls
		}
	}
	return nil
}

// reverseOf makes, of a change that a tool reported, the calls that take it
// back; ok is false when only a checkpoint can.
func reverseOf(c *call) (back []reversal, ok bool) {
	switch c.name {
	case "star_pairs":
		return marksBack(c, "stars", func(s string) (any, bool) { n, err := strconv.Atoi(s); return n, err == nil })
	case "flag_pairs":
		return marksBack(c, "flag", func(s string) (any, bool) { return s == "blue", true })
	case "set_topic":
		return marksBack(c, "topic", func(s string) (any, bool) { return s, true })
	case "rename_topic", "move_topic":
		return pathBack(c)
	case "save_filter":
		name, line := c.text("name"), c.told("before")
		if line == "" {
			return []reversal{{"forget_filter", args{"name": name}}}, name != ""
		}
		return []reversal{{"save_filter", args{"name": name, "line": line}}}, true
	case "forget_filter":
		name, line := c.text("name"), c.told("line")
		return []reversal{{"save_filter", args{"name": strings.TrimPrefix(name, "@"), "line": line}}}, line != "" && !strings.HasSuffix(line, "…")
	}
	return nil, false
}

// told is a string of a call's result.
func (c *call) told(key string) string {
	s, _ := c.res.Data[key].(string)
	return s
}

// marksBack gives pairs back the marks that they had.
func marksBack(c *call, key string, value func(string) (any, bool)) (back []reversal, ok bool) {
	if n, known := c.res.number("changed"); known && n == 0 {
		return nil, true
	}
	before, _ := c.res.Data["before"].(map[string]any)
	for _, old := range slices.Sorted(maps.Keys(before)) {
		runs, _ := before[old].(string)
		ids := idsOfRuns(runs)
		v, known := value(old)
		if len(ids) == 0 || !known {
			return nil, false
		}
		a := args{"ids": ids, key: v}
		if key == "topic" && old != "" {
			a["create"] = true
		}
		back = append(back, reversal{c.name, a})
	}
	return back, len(back) > 0
}

// pathBack gives a topic its name or its place back.
func pathBack(c *call) (back []reversal, ok bool) {
	from, to := c.told("from"), c.told("to")
	if from == "" || to == "" || strings.HasSuffix(from+to, "…") {
		return nil, false
	}
	head, name := "", from
	if i := strings.LastIndex(from, " > "); i >= 0 {
		head, name = from[:i], from[i+len(" > "):]
	}
	if c.name == "rename_topic" {
		return []reversal{{c.name, args{"topic": to, "name": name}}}, true
	}
	return []reversal{{c.name, args{"topic": to, "under": head}}}, true
}

// idsOfRuns reads numbers as the tools tell them, "3-9, 12"; none when they are
// more than a call takes, or cut.
func idsOfRuns(runs string) []int {
	var out []int
	for part := range strings.SplitSeq(runs, ",") {
		from, to, isRun := strings.Cut(strings.TrimSpace(part), "-")
		if !isRun {
			to = from
		}
		first, err := strconv.Atoi(from)
		if err != nil {
			return nil
		}
		last, err := strconv.Atoi(to)
		if err != nil || last < first || last-first+len(out) >= maxPairNumbers {
			return nil
		}
		for n := first; n <= last; n++ {
			out = append(out, n)
		}
	}
	return out
}
