package assistant

import (
	"errors"
	"fmt"
)

// What a Session refuses, and why.
var (
	// ErrBusy refuses what must not happen while a turn runs.
	ErrBusy = errors.New("the assistant is working")
	// ErrNotBusy refuses to queue when nothing runs: the message can be sent.
	ErrNotBusy = errors.New("nothing is running")
	// ErrNoModel refuses to send when no model is selected.
	ErrNoModel = errors.New("no model is selected")
	// ErrEmpty refuses to send nothing.
	ErrEmpty = errors.New("the message is empty")
	// ErrNoPair refuses a pair or payload that does not exist.
	ErrNoPair = errors.New("no such pair")
	// ErrNoBranches refuses to branch in a store that is no BranchStore.
	ErrNoBranches = errors.New("this history cannot branch a session")
	// ErrSessionExists refuses to make a session with an id that is taken.
	ErrSessionExists = errors.New("the session exists already")
	// ErrNotAction refuses an action that the program does not carry out where the user is.
	ErrNotAction = errors.New("there is no such action here")
	// ErrNotAsked refuses an answer to a question that is not open.
	ErrNotAsked = errors.New("no question is open")
	// ErrNoJournal refuses what needs checkpoints in a session without them.
	ErrNoJournal = errors.New("this session has no checkpoints")
	// ErrNotSaver refuses to save in a window that has nothing to save.
	ErrNotSaver = errors.New("this window has nothing to save")
	// ErrMoved refuses an act because what it is about has changed since it was shown. It
	// ends a sentence that begins with what has changed.
	ErrMoved = errors.New("changed since they were shown: look at them and try again")
	// ErrRounds ends Conversation.Run when the limit of rounds of tool calls
	// is reached. What was done stays; another Run continues.
	ErrRounds = errors.New("the limit of rounds of tool calls is reached")
)

// UnrecordedError is a change that was made but could not be recorded.
type UnrecordedError struct {
	Done string // what was done, in a clause
	Err  error
}

// Error says what was done, and why it is not recorded.
func (e *UnrecordedError) Error() string {
	return fmt.Sprintf("%s, but not recorded: %v", e.Done, e.Err)
}

// Unwrap returns the cause.
func (e *UnrecordedError) Unwrap() error { return e.Err }

// TurnError is how a turn failed.
type TurnError struct {
	Code    string // a Kind or one of the Code constants
	Message string // for people
	Err     error  // the cause: a *RequestError for a failed request, a *llm.ConfigError for a window that moved to an unknown page; may be nil
}

// Error is the code and the message.
func (e *TurnError) Error() string { return e.Code + ": " + e.Message }

// Unwrap returns the cause.
func (e *TurnError) Unwrap() error { return e.Err }

// DeltaError is a builder's delta that cannot be applied to its conversation.
type DeltaError struct {
	Delta string // which one: "model", "tools", a message…
	Err   error
}

// Error names the delta and the cause.
func (e *DeltaError) Error() string { return fmt.Sprintf("delta %s: %v", e.Delta, e.Err) }

// Unwrap returns the cause.
func (e *DeltaError) Unwrap() error { return e.Err }
