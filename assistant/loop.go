package assistant

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"winnow/assistant/llm"
	"winnow/assistant/message"
)

// The limits of a turn.
const (
	DefaultIterations = 5 // rounds of tool calls
	maxInvalidRounds  = 4 // in a row
)

// loop is a series of responses joined by tool calls: what a turn of a session and a Run of
// a Conversation have in common.
type loop struct {
	answer
	registry     *llm.Registry
	model        llm.Model
	name         string // of the model, as its endpoint knows it
	modelID      string
	sampling     llm.Sampling
	tools        *toolbox
	payloadTypes []PayloadType // that a model may write
	iterations   int           // the limit of rounds
	now          func() time.Time
	log          *slog.Logger
	ctx          context.Context
	cancel       context.CancelCauseFunc
	list         *message.List
	host         host
	spent        func(llm.Usage) // counts the tokens of a response; nil: nothing counts them
}

// answer is what a loop has produced so far.
type answer struct {
	pair         *Pair // its texts after flushTexts
	text         strings.Builder
	reasoning    strings.Builder
	thoughts     []Thought
	callIDs      map[string]bool // that are taken in pair
	cards        int             // calls that have a card; the N of the next card marker
	response     int             // whole responses so far
	newParagraph bool            // the next text starts a paragraph
	correcting   bool            // a Retrying was reported: it is valid until the next text or tool
	invalid      int             // invalid rounds in a row
	rounds       int             // rounds with tools, the invalid ones left out
	notices      int             // added by note
}

// host is what a loop belongs to.
type host interface {
	requester
	toolRunner
	listener
}

// requester makes the requests of a loop.
type requester interface {
	// nextRequest is the request to send now.
	nextRequest() llm.Request
	// overflow makes the next request smaller after one that was too long, or returns why
	// it cannot.
	overflow(err *llm.RequestError) error
	// responded is called with each whole response, in the pair already.
	responded(final bool) error
}

// toolRunner runs the calls of a loop.
type toolRunner interface {
	// runTool runs the first of the calls that are still to run. wrote reports that it may
	// have changed the window. The error is ctx's, when it ended before the tool began.
	runTool(calls []checkedCall) (r ToolResult, wrote bool, err error)
	// afterWrite is called when a call wrote, with its result in the pair already.
	afterWrite(c *checkedCall) error
}

// listener hears what happens in a loop.
type listener interface {
	emit(e Event)
	added(m message.Message) // to the list
	// shouldStop reports whether the loop ends after the response it is in.
	shouldStop() bool
}

// requestOf is the request with these messages.
func (t *loop) requestOf(messages message.List) llm.Request {
	return llm.Request{Model: t.name, Messages: messages.Wire(), Tools: t.tools.specs, Sampling: t.sampling}
}

// maxNotices bounds the notices of a turn: a hostile answer could cause thousands.
const maxNotices = 16

// note adds a notice about the turn to the pair, once.
func (t *loop) note(text string) {
	if t.notices == maxNotices || strings.Contains(t.pair.Notice, text) {
		return
	}
	t.notices++
	t.pair.Notice = strings.TrimPrefix(t.pair.Notice+"\n"+text, "\n")
}

// warn reports a problem with a part of the answer, as a Status and in the pair.
func (t *loop) warn(text string) {
	t.host.emit(Status{text})
	t.note(text)
}
