package assistant

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"winnow/assistant/llm"
	"winnow/assistant/message"
	"winnow/assistant/safetext"
)

// The limits of a turn.
const (
	DefaultIterations = 5 // rounds of tool calls
	maxInvalidRounds  = 4 // consecutive rounds of invalid calls
)

// loop is a series of responses joined by tool calls. Both a turn of a session
// and a Run of a Conversation are built on it.
type loop struct {
	answer
	registry     *llm.Registry
	model        llm.Model
	name         string // the endpoint's name for the model
	modelID      string
	sampling     llm.Sampling
	tools        *toolbox
	payloadTypes []PayloadType // types that a model may write
	iterations   int           // limit on rounds
	now          func() time.Time
	waited       time.Duration // how long questions have waited for the user's answers
	log          *slog.Logger
	ctx          context.Context
	cancel       context.CancelCauseFunc
	list         *message.List
	host         host
	spent        func(llm.Usage) // counts the tokens of a response; may be nil
}

// answer is what a loop has produced so far.
type answer struct {
	pair         *Pair // its texts are up to date only after flushTexts
	text         safetext.Builder
	reasoning    safetext.Builder
	thoughts     []Thought
	callIDs      map[string]bool // ids already used in pair
	cards        int             // number of calls with a card so far, which is the N of the next [[tool:N]] marker
	response     int             // complete responses so far
	newParagraph bool            // the next text starts a paragraph
	correcting   bool            // a Retrying event was reported and still applies
	invalid      int             // consecutive invalid rounds
	rounds       int             // rounds with tools, except invalid ones
	notices      int             // number of notices added by note
}

// host is what a loop runs in: a turn or a run.
type host interface {
	requester
	toolRunner
	listener
}

// requester builds the requests of a loop.
type requester interface {
	// nextRequest returns the request to send next.
	nextRequest() llm.Request
	// overflow makes the next request smaller after the endpoint rejected one as too long.
	// Its error says why this is not possible.
	overflow(err *llm.RequestError) error
	// responded is called after each complete response, which is already in the
	// pair. final means that the response made no calls.
	responded(final bool) error
}

// toolRunner runs the calls of a loop.
type toolRunner interface {
	// runTool runs the first of the remaining calls. wrote means that the call ran on
	// an MCP server or may have changed the window. The error is ctx.Err() if ctx ended
	// before the tool began.
	runTool(calls []checkedCall) (r ToolResult, wrote bool, err error)
	// afterWrite is called after a call that wrote; the result is already in
	// the pair.
	afterWrite(c *checkedCall) error
}

// listener is told what happens in a loop.
type listener interface {
	emit(e Event)
	added(m message.Message) // m was added to the list
	// shouldStop reports whether the loop ends after the current response.
	shouldStop() bool
}

// requestOf returns a request with these messages.
func (t *loop) requestOf(messages message.List) llm.Request {
	return llm.Request{Model: t.name, Messages: messages.Wire(), Tools: t.tools.specs(), Sampling: t.sampling}
}

// maxNotices limits the notices of a turn: a malicious answer could cause
// thousands.
const maxNotices = 16

// note adds a notice about the turn to the pair, once.
func (t *loop) note(text string) {
	if t.notices == maxNotices || strings.Contains(string(t.pair.Notice), text) {
		return
	}
	t.notices++
	if t.pair.Notice != "" {
		t.pair.Notice += "\n"
	}
	t.pair.Notice += safetext.Clean(text)
}

// warn reports a problem with part of the answer, as a Status and in the pair.
func (t *loop) warn(text string) {
	t.host.emit(Status{text})
	t.note(text)
}
