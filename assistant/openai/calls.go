package openai

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"winnow/assistant/llm"
	"winnow/assistant/safetext"
)

// calls assembles tool calls from pieces. A piece normally has the index of its call. For
// endpoints that omit the index, or send the same index for every call, the ids and the
// ends of complete arguments separate the calls. The zero value is ready to use.
type calls struct {
	all     []*partialCall
	byIndex map[int64]*partialCall // newest call with each index
	byID    map[string]*partialCall
	last    *partialCall // the call of the newest piece
	damaged string       // why the calls cannot be trusted; "" if they can
}

// partialCall is a call that is being assembled.
type partialCall struct {
	order     int64 // the index of the call or, if it has none, the order of the previous call
	hasIndex  bool  // order is an index sent by the endpoint
	id        string
	name      string
	arguments strings.Builder
	unescape  unescaper
}

// callSize is the size that each call adds to an answer, in addition to its text. It
// limits the number of empty calls.
const callSize = 256

// add adds a piece and returns how much it adds to the size of the answer.
func (cs *calls) add(d callDelta) (size int) {
	c := cs.find(d)
	if c == nil {
		c = cs.begin(d)
		size = callSize
	}
	cs.last = c
	if c.id == "" && d.id != "" {
		c.id = d.id
		cs.byID[d.id] = c
	}
	c.extendName(d.name)
	c.arguments.WriteString(c.unescape.next(d.arguments))
	return size + len(d.arguments) + len(d.name) + len(d.id)
}

// find returns the call that d continues, or nil if d starts a new one.
func (cs *calls) find(d callDelta) *partialCall {
	if c := cs.byID[d.id]; d.id != "" && c != nil && (!d.hasIndex || c.order == d.index) {
		return cs.unlessNew(c, d)
	}
	c := cs.last
	if d.hasIndex {
		if known := cs.byIndex[d.index]; known != nil || c == nil || c.hasIndex || d.name != "" || d.id != "" {
			c = known
		} else { // this piece adds the missing index of the last call
			cs.setIndex(c, d.index)
		}
	}
	return cs.unlessNew(c, d)
}

// unlessNew returns c, the call that d seems to continue. It returns nil if d starts
// another call, that is, if d has a name, and its id differs or c has all its arguments.
func (cs *calls) unlessNew(c *partialCall, d callDelta) *partialCall {
	switch {
	case c == nil || d.name == "":
		return c
	case d.id != "" && c.id != "" && d.id != c.id:
		return nil
	}
	arguments, begins := c.arguments.String(), strings.HasPrefix(strings.TrimSpace(d.arguments), "{")
	switch {
	case !strings.HasSuffix(arguments, "}") || d.name == c.name && !begins: // a { after the closing } begins another call
		return c
	case d.name == c.name && (d.id == "") == (c.id == "") && arguments == new(unescaper).next(d.arguments):
		cs.damaged = "a tool call was sent twice"
	}
	return nil
}

func (cs *calls) begin(d callDelta) *partialCall {
	if cs.byIndex == nil {
		cs.byIndex, cs.byID = map[int64]*partialCall{}, map[string]*partialCall{}
	}
	c := &partialCall{}
	if cs.last != nil {
		c.order = cs.last.order
	}
	if d.hasIndex {
		cs.setIndex(c, d.index)
	}
	cs.all = append(cs.all, c)
	return c
}

func (cs *calls) setIndex(c *partialCall, index int64) {
	c.order, c.hasIndex = index, true
	cs.byIndex[index] = c
}

// extendName adds a name that is sent once, repeatedly, or in pieces. A name that is
// already known no longer changes once arguments have been received.
func (c *partialCall) extendName(name string) {
	hasArguments := c.arguments.Len() > 0
	switch {
	case name == "" || name == c.name:
	case c.name == "" || !hasArguments && strings.HasPrefix(name, c.name):
		c.name = name
	case !hasArguments:
		c.name += name
	}
}

// list returns the calls in order of index, each with a unique id. It omits empty calls.
func (cs *calls) list() []llm.Call {
	slices.SortStableFunc(cs.all, func(a, b *partialCall) int { return cmp.Compare(a.order, b.order) })
	sent := map[string]bool{}
	for _, c := range cs.all {
		c.id, c.name = oneLine(c.id), oneLine(c.name)
		sent[c.id] = true
	}
	used := map[string]bool{}
	var list []llm.Call
	for _, c := range cs.all {
		c.arguments.WriteString(c.unescape.flush())
		if c.name == "" && c.id == "" && c.arguments.Len() == 0 {
			continue
		}
		id := c.id
		for n := len(list) + 1; id == "" || used[id] || id != c.id && sent[id]; n++ {
			id = "call_" + strconv.Itoa(n)
		}
		used[id] = true
		list = append(list, llm.Call{
			ID: id, Name: c.name, Arguments: strings.ToValidUTF8(c.arguments.String(), "\ufffd"),
		})
	}
	return list
}

// oneLine makes text from an endpoint safe to show on one line.
func oneLine(s string) string {
	return strings.Join(strings.Fields(string(safetext.Clean(s))), " ")
}
