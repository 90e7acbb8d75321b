package openai

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"winnow/assistant"
	"winnow/assistant/safetext"
)

// maxAnswer bounds what one answer may say: text, reasoning and calls together.
const maxAnswer = 16 << 20

// maxUnreadable is how many unreadable events an answer may have before it is
// given up: more are not a slip but another language.
const maxUnreadable = 100

// answer reads the body of one answer. It is a pure state machine: whatever the
// pieces a body comes in, the parts are the same.
type answer struct {
	fail func(status int, f failure, limits *assistant.RateLimits) *assistant.RequestError
	host string // who answers, for what is said of it

	frames   frames
	think    thinkSplitter
	textIn   pieces // of the content
	reasonIn pieces // of the reasoning fields
	cleanT   safetext.Cleaner
	cleanR   safetext.Cleaner
	calls    calls

	parts      []assistant.Part // not yet fetched
	err        error            // ends the answer
	size       int
	unreadable int
	reasoned   bool // reasoning came in a plain field, so details repeat it
	said       bool // some content came: text, reasoning or a call
	understood bool // some event had choices
	finish     string
	finished   bool   // a finish_reason came
	done       bool   // [DONE] came
	damaged    string // the first reason why the calls must not run
	blank      int    // empty events before the first call; those are a keep-alive
	last       []byte // the last event with arguments of a call
	usage      *assistant.Usage
	limits     *assistant.RateLimits // of the header; goes into the End
}

// write reads the next piece of the body. The parts are valid until the next
// call; useful tells whether the piece brought the answer on, as comments and
// empty events do not. After an error or done nothing more is read.
func (a *answer) write(b []byte) (parts []assistant.Part, useful bool, err error) {
	a.parts = a.parts[:0]
	before := a.progress()
	err = a.frames.write(b, a.frame)
	if a.frames.odd > 0 {
		a.damage("a line of it could not be read")
	}
	switch {
	case errors.Is(err, errPage):
		a.err = a.page()
	case errors.Is(err, errEventTooLong):
		a.err = a.cut(err.Error(), err)
	}
	return a.parts, a.progress() != before, a.err
}

// progress changes with everything that brings the answer on.
func (a *answer) progress() [3]int {
	state := 0
	if a.finished {
		state++
	}
	if a.done {
		state++
	}
	if a.usage != nil {
		state++
	}
	return [3]int{a.size, a.unreadable, state}
}

// end takes the end of the body: cause is nil when the endpoint closed it, else
// what broke the connection. The last part is the End, if the answer is whole.
func (a *answer) end(cause error) ([]assistant.Part, error) {
	a.parts = a.parts[:0]
	if a.err == nil && cause == nil && !a.done {
		a.frames.end(a.frame)
	}
	if a.err != nil {
		return a.parts, a.err
	}
	a.flush()
	if !a.finished && (!a.done || !a.understood) {
		return a.parts, a.stopped(cause)
	}
	calls := a.calls.list()
	switch {
	case slices.ContainsFunc(calls, func(c assistant.Call) bool { return c.Name == "" }):
		a.damage("the name of a tool call is missing")
	case len(calls) > 0 && !a.finished:
		a.damage("it has no finish_reason")
	case len(calls) > 0 && a.frames.blank > a.blank:
		a.damage("an event of it is empty")
	case len(calls) == 0 && (a.finish == "tool_calls" || a.finish == "function_call"):
		a.damage("its tool calls are missing")
	}
	a.parts = append(a.parts, assistant.End{
		Calls: calls, Finish: a.finish, Damaged: a.damaged, Usage: a.usage, Limits: a.limits,
	})
	return a.parts, nil
}

// stopped is the error of an answer without its end.
func (a *answer) stopped(cause error) error {
	switch {
	case a.frames.framing == htmlFraming:
		return a.page()
	case a.said:
		return a.cut("the connection to "+a.host+" ended before the answer did", cause)
	case a.done && !a.understood:
		return broken(assistant.KindUnknown, "the answer of "+a.host+" holds nothing but its end", tryAgain, errNoAnswer)
	case cause == nil && a.understood:
		return a.cut("the answer of "+a.host+" ended without its end (no finish_reason, no [DONE])", nil)
	case cause == nil && (a.unreadable > 0 || a.frames.framing != unknownFraming):
		return broken(assistant.KindUnknown, a.host+" answered with something else than a chat completion", checkBase, nil)
	case cause == nil:
		return broken(assistant.KindNet, a.host+" closed the connection without an answer", tryAgain, errNoAnswer)
	}
	return broken(assistant.KindNet, "the connection to "+a.host+" broke before the answer", tryAgain, cause)
}

// page is the error of a web page in place of an answer.
func (a *answer) page() *assistant.RequestError {
	err := a.fail(0, parseFailure(a.frames.line), a.limits)
	err.Advice = checkBase
	return err
}

// errNoAnswer is the cause of an empty body.
var errNoAnswer = errors.New("empty answer")

func (a *answer) cut(message string, cause error) *assistant.RequestError {
	return broken(assistant.KindInterrupted, message, "", cause)
}

// frame reads one event. It returns false when nothing may follow.
func (a *answer) frame(f frame) bool {
	if string(f.data) == "[DONE]" {
		a.done = true
		return false
	}
	ch, ok := readChunk(f.data)
	if !ok {
		return a.oddFrame(f)
	}
	return a.chunk(f, ch)
}

// oddFrame takes an event that is not one JSON object: some servers forget the
// empty line between two events, so each line is tried by itself.
func (a *answer) oddFrame(f frame) bool {
	if f.event == "error" {
		a.err = a.fail(0, parseFailure(f.data), a.limits)
		return false
	}
	lines := strings.Split(string(f.data), "\n")
	if len(lines) > 1 && a.frames.framing == sseFraming && slices.ContainsFunc(lines, readable) {
		for _, line := range lines {
			if line = strings.TrimSpace(line); line != "" && !a.frame(frame{event: f.event, data: []byte(line)}) {
				return false
			}
		}
		return true
	}
	return a.skipped("an event of the answer is not JSON and was left out")
}

func readable(line string) bool {
	_, ok := readChunk([]byte(line))
	return ok || strings.TrimSpace(line) == "[DONE]"
}

// damage notes why the calls of the answer cannot be trusted. Its text is shown.
func (a *answer) damage(reason string) {
	if a.damaged == "" {
		a.damaged = reason
	}
}

func (a *answer) skipped(reason string) bool {
	a.damage("a part of it could not be read")
	if a.unreadable++; a.unreadable > maxUnreadable {
		a.err = a.cut(fmt.Sprintf("more than %d events of the answer cannot be read", maxUnreadable), nil)
		return false
	}
	a.parts = append(a.parts, assistant.Unreadable{Reason: reason})
	return true
}

// chunk takes what one event says.
func (a *answer) chunk(f frame, ch chunk) bool {
	if f.event == "error" && ch.failure == nil {
		said := parseFailure(f.data)
		ch.failure = &said
	}
	a.understood = a.understood || ch.choices
	a.check(f, ch)
	a.content(ch)
	if len(a.calls.slots) == 0 {
		a.blank = a.frames.blank
	}
	for _, d := range ch.calls {
		a.said = true
		a.size += a.calls.add(d)
	}
	if ch.usage != nil {
		a.usage = ch.usage
	}
	switch {
	case a.size > maxAnswer:
		a.err = a.cut("the answer is longer than 16 MiB", nil)
	case ch.failure != nil:
		a.err = a.fail(0, *ch.failure, a.limits)
	case ch.finish == "error":
		a.err = a.cut(a.host+" broke the answer off with an error and does not say which", nil)
	case ch.finish != "" && !a.finished: // another one later is damage, not news
		a.finish, a.finished = finishReason(ch.finish), true
	}
	return a.err == nil
}

// check notes what shows that events were lost, repeated or mixed up on their
// way. A lost event that leaves valid arguments behind cannot be seen: events
// are not numbered.
func (a *answer) check(f frame, ch chunk) {
	if ch.damaged != "" {
		a.damage(ch.damaged)
	}
	if a.finished {
		switch {
		case ch.text != "" || ch.reasoning != "" || len(ch.calls) > 0:
			a.damage("it went on after its finish_reason")
		case ch.finish != "" && finishReason(ch.finish) != a.finish:
			a.damage("it has two different finish_reasons")
		}
	}
	// Nearly every event differs from the one before, if only by its arguments.
	// Brackets and spaces may well come twice, and twice too often is no JSON.
	repeatable := func(d callDelta) bool { return strings.Trim(d.arguments, " {}[],:") == "" && d.name == "" }
	if len(ch.calls) == 0 || !slices.ContainsFunc(ch.calls, func(d callDelta) bool { return !repeatable(d) }) {
		a.last = a.last[:0]
		return
	}
	if bytes.Equal(a.last, f.data) {
		a.damage("an event of it came twice")
	}
	a.last = append(a.last[:0], f.data[:min(len(f.data), keptBuffer)]...)
}

// finishReason brings the words of other endpoints for a cut answer to the
// one that End.Cut knows.
func finishReason(reason string) string {
	switch reason = strings.ToLower(word(reason)); reason {
	case "max_tokens", "max_output_tokens", "model_length":
		return "length"
	}
	return reason
}

func (a *answer) content(ch chunk) {
	if ch.reasoning != "" {
		a.reasoned = true
	} else if !a.reasoned {
		ch.reasoning = ch.details
	}
	if ch.reasoning != "" {
		a.said = true
		a.size += len(ch.reasoning)
		a.emit(a.reasonIn.next(ch.reasoning), true)
	}
	if ch.text != "" {
		a.said = true
		a.size += len(ch.text)
		a.think.write(a.textIn.next(ch.text), a.emit)
	}
}

// emit cleans a piece and makes it a part.
func (a *answer) emit(text string, reasoning bool) {
	if reasoning {
		text = a.cleanR.Write(text)
	} else {
		text = a.cleanT.Write(text)
	}
	a.part(text, reasoning)
}

// maxPart bounds the text of one part, so that one giant event reaches its
// reader in steps as long as those of any other answer.
const maxPart = 16 << 10

func (a *answer) part(text string, reasoning bool) {
	for text != "" {
		n := len(text)
		if n > maxPart {
			for n = maxPart; !utf8.RuneStart(text[n]); n-- {
			}
		}
		if reasoning {
			a.parts = append(a.parts, assistant.Reasoning{Text: text[:n]})
		} else {
			a.parts = append(a.parts, assistant.Text{Text: text[:n]})
		}
		text = text[n:]
	}
}

// flush lets go of everything that was waiting for more.
func (a *answer) flush() {
	a.emit(a.reasonIn.flush(), true)
	a.think.write(a.textIn.flush(), a.emit)
	a.think.flush(a.emit)
	a.part(a.cleanR.Flush(), true)
	a.part(a.cleanT.Flush(), false)
}
