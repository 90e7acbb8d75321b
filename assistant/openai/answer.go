package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"winnow/assistant/llm"
	"winnow/assistant/safetext"
)

// Limits on one answer.
const (
	maxAnswer     = 16 << 20 // bytes of text, reasoning and calls together
	maxUnreadable = 100      // unreadable events; a body with more of them does not use this protocol
	maxPart       = 16 << 10 // bytes of text in one part, so that a huge event is delivered in steps
)

// answer parses the body of one response. It is a state machine without I/O: the pieces
// into which the body is split affect only where one part ends and the next begins.
type answer struct {
	*Client
	limits *llm.RateLimits // the limits in the headers

	frames     frames
	think      thinkSplitter
	unescape   [2]unescaper        // [0] for text, [1] for reasoning
	clean      [2]safetext.Cleaner // [0] for text, [1] for reasoning
	calls      calls
	parts      []llm.Part       // parts not yet returned
	pending    safetext.Builder // text of the next part
	reasoning  bool             // pending is reasoning
	err        error            // the error that ended the answer
	size       int              // compared with maxAnswer
	progress   int              // counts events that advance the answer
	unreadable int
	reasoned   bool // reasoning arrived in its own field, so reasoning_details would repeat it
	content    bool // text, reasoning or a call was received
	understood bool // an event had choices
	finish     string
	finished   bool   // a finish_reason was received
	done       bool   // [DONE] was received
	damaged    string // the first reason why the calls must not run
	empty      int    // empty events before the first call: keep-alives
	usage      *llm.Usage
}

// write parses the next piece of the body. The parts are valid until the next call. useful
// reports whether the piece advanced the answer; comments and empty events do not. write
// must not be called after an error or once done is set.
func (a *answer) write(b []byte) (parts []llm.Part, useful bool, err error) {
	a.parts = a.parts[:0]
	before := a.progress
	a.framesError(a.frames.write(b, a.frame))
	a.flushPart()
	return a.parts, a.progress != before, a.err
}

// framesError stores the error of a call to frames. It marks the answer as damaged if
// frames could not read a line.
func (a *answer) framesError(err error) {
	switch {
	case errors.Is(err, errPage):
		a.err = a.pageError()
	case errors.Is(err, errEventTooLong):
		a.err = a.newError(llm.KindInterrupted, err, "%v", err)
	}
	if a.frames.badField {
		a.damage("one of its lines could not be read")
	}
}

// end completes the answer. cause is the error that ended the connection, or nil if there
// was none. The last part of a complete answer is its End.
func (a *answer) end(cause error) ([]llm.Part, error) {
	a.parts = a.parts[:0]
	if a.err == nil && cause == nil && !a.done {
		a.framesError(a.frames.end(a.frame))
		a.flushPart()
	}
	if a.err != nil {
		return a.parts, a.err
	}
	a.emit(a.unescape[1].flush(), true)
	a.think.write(a.unescape[0].flush(), a.emit)
	a.think.flush(a.emit)
	a.part(a.clean[1].Flush(), true)
	a.part(a.clean[0].Flush(), false)
	a.flushPart()
	if !a.finished && (!a.done || !a.content) {
		return a.parts, a.incomplete(cause)
	}
	list := a.calls.list()
	switch {
	case a.calls.damaged != "":
		a.damage(a.calls.damaged)
	case slices.ContainsFunc(list, func(c llm.Call) bool { return c.Name == "" }):
		a.damage("the name of a tool call is missing")
	case len(list) > 0 && a.frames.empty > a.empty:
		a.damage("one of its events is empty")
	case len(list) == 0 && a.finish == llm.FinishCalls:
		a.damage("its tool calls are missing")
	}
	return append(a.parts, llm.End{
		Calls: list, Finish: a.finish, Damaged: a.damaged, Usage: a.usage, Limits: a.limits,
	}), nil
}

// incomplete returns the error for an answer that broke off.
func (a *answer) incomplete(cause error) error {
	const net, unknown, interrupted = llm.KindNet, llm.KindUnknown, llm.KindInterrupted
	switch {
	case a.frames.framing == htmlFraming:
		return a.pageError()
	case a.content:
		return a.newError(interrupted, cause, "the connection to %s ended before the answer did", a.host)
	case a.done:
		return a.newError(unknown, nil, "%s returned an empty response", a.host)
	case cause == nil && a.understood:
		return a.newError(interrupted, nil, "the response from %s is incomplete: no finish_reason and no [DONE]", a.host)
	case cause == nil && a.frames.framing != unknownFraming:
		return a.newError(unknown, nil, "%s answered with something other than a chat completion", a.host)
	case cause == nil:
		return a.newError(net, nil, "%s closed the connection without an answer", a.host)
	}
	return a.newError(net, cause, "the connection to %s was lost before the answer began", a.host)
}

// pageError returns the error for a web page in place of an answer.
func (a *answer) pageError() error { return a.failureError(0, parseFailure(a.frames.data), a.limits) }

// frame parses one event. It returns false if no further events are to be read.
func (a *answer) frame(f frame) bool {
	if string(f.data) == "[DONE]" {
		a.done = true
		a.progress++
		return false
	}
	ch, ok := readChunk(f.data)
	switch {
	case ok && f.event == "error" && ch.failure == nil:
		failed := parseFailure(f.data)
		ch.failure = &failed
	case ok:
	case f.event == "error":
		a.err = a.failureError(0, parseFailure(f.data), a.limits)
		return false
	default:
		return a.unreadableFrame(f)
	}
	a.chunk(ch)
	return a.err == nil
}

// unreadableFrame handles an event that is not a JSON object. Some servers omit the empty
// line between two events; each line is then an event.
func (a *answer) unreadableFrame(f frame) bool {
	lines := bytes.Split(f.data, []byte("\n"))
	whole := func(line []byte) bool { return string(line) == "[DONE]" || json.Valid(line) }
	if len(lines) > 1 && a.frames.framing == sseFraming && slices.ContainsFunc(lines, whole) {
		for _, line := range lines {
			if line = bytes.TrimSpace(line); len(line) > 0 && !a.frame(frame{event: f.event, data: line}) {
				return false
			}
		}
		return true
	}
	a.damage("a part of it could not be read")
	a.progress++
	if a.unreadable++; a.unreadable > maxUnreadable {
		a.err = a.newError(llm.KindInterrupted, nil, "more than %d events of the answer could not be read", maxUnreadable)
		return false
	}
	a.flushPart()
	a.parts = append(a.parts, llm.Unreadable{Reason: "an event that is not JSON was left out"})
	return true
}

// damage records why the calls of the answer must not run. The user sees the reason.
func (a *answer) damage(reason string) {
	if a.damaged == "" {
		a.damaged = reason
	}
}

func (a *answer) chunk(ch chunk) {
	a.understood = a.understood || ch.hasChoices
	size := a.size
	finish := finishReason(ch.finish)
	switch more := ch.text != "" || ch.reasoning != "" || len(ch.calls) > 0; {
	case ch.damaged != "":
		a.damage(ch.damaged)
	case a.finished && more:
		a.damage("it continued after its finish_reason")
	case a.finished && finish != "" && finish != a.finish:
		a.damage("it has two different finish_reasons")
	}
	a.addText(ch)
	if len(a.calls.all) == 0 {
		a.empty = a.frames.empty
	}
	for _, d := range ch.calls {
		a.size += a.calls.add(d)
	}
	if a.size > size || len(ch.calls) > 0 {
		a.content = true
		a.progress++
	}
	if ch.usage != nil {
		a.usage = ch.usage
		a.progress++
	}
	switch {
	case a.size > maxAnswer:
		a.err = a.newError(llm.KindInterrupted, nil, "the answer is longer than 16 MiB")
	case ch.failure != nil:
		a.err = a.failureError(0, *ch.failure, a.limits)
	case finish == "error":
		a.err = a.newError(llm.KindInterrupted, nil, "%s ended the answer with an unspecified error", a.host)
	case finish != "" && !a.finished:
		a.finish, a.finished = finish, true
		a.progress++
	}
}

// finishReasons maps other endpoints' finish reasons to the values of llm.End.Finish.
var finishReasons = map[string]string{
	"max_tokens": llm.FinishLength, "max_output_tokens": llm.FinishLength, "model_length": llm.FinishLength, "incomplete": llm.FinishLength,
	"eos": llm.FinishStop, "eos_token": llm.FinishStop, "end_turn": llm.FinishStop, "stop_sequence": llm.FinishStop,
	"complete": llm.FinishStop, "completed": llm.FinishStop,
	"tool_call": llm.FinishCalls, "tool_use": llm.FinishCalls, "function_call": llm.FinishCalls, "function_calls": llm.FinishCalls,
	"safety": llm.FinishFilter, "recitation": llm.FinishFilter, "blocklist": llm.FinishFilter, "prohibited_content": llm.FinishFilter,
	"spii": llm.FinishFilter, "refusal": llm.FinishFilter,
}

// maxReason is the maximum number of bytes of an unknown finish_reason that are shown.
const maxReason = 100

// finishReason converts a known finish_reason to the value of llm.End.Finish. It returns
// other reasons in lower case, cut to maxReason bytes.
func finishReason(reason string) string {
	reason = strings.ToLower(oneLine(reason))
	return cmp.Or(finishReasons[reason], strings.ToValidUTF8(reason[:min(len(reason), maxReason)], ""))
}

func (a *answer) addText(ch chunk) {
	if ch.reasoning != "" {
		a.reasoned = true
	} else if !a.reasoned {
		ch.reasoning = ch.details
	}
	if ch.reasoning != "" {
		a.size += len(ch.reasoning)
		a.emit(a.unescape[1].next(ch.reasoning), true)
	}
	if ch.text != "" {
		a.size += len(ch.text)
		a.think.write(a.unescape[0].next(ch.text), a.emit)
	}
}

// emit sanitises text and adds it to the parts.
func (a *answer) emit(text string, reasoning bool) {
	cleaner := &a.clean[0]
	if reasoning {
		cleaner = &a.clean[1]
	}
	a.part(cleaner.Write(text), reasoning)
}

// part adds text to the next part. The text of all events in a piece of the body makes one
// part, unless reasoning and other text alternate.
func (a *answer) part(text safetext.Text, reasoning bool) {
	if reasoning != a.reasoning {
		a.flushPart()
	}
	a.reasoning = reasoning
	a.pending.Write(text)
}

// flushPart turns the pending text into parts of at most maxPart bytes.
func (a *answer) flushPart() {
	text := a.pending.From(0)
	a.pending.Reset()
	for text != "" {
		n := len(text)
		if n > maxPart {
			for n = maxPart; !utf8.RuneStart(text[n]); n-- {
			}
		}
		if a.reasoning {
			a.parts = append(a.parts, llm.Reasoning{Text: text[:n]})
		} else {
			a.parts = append(a.parts, llm.Text{Text: text[:n]})
		}
		text = text[n:]
	}
}
