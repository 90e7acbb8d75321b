package assistant

import (
	"errors"
	"fmt"
)

// Errors returned by a Session or a Conversation.
var (
	// ErrBusy is returned by methods that cannot run during a turn.
	ErrBusy = errors.New("the assistant is working")
	// ErrNotBusy is returned by Queue when nothing is running: the message can
	// be sent directly.
	ErrNotBusy = errors.New("nothing is running")
	// ErrNoModel is returned when a message is sent and no model is selected.
	ErrNoModel = errors.New("no model is selected")
	// ErrEmpty is returned for an empty message.
	ErrEmpty = errors.New("the message is empty")
	// ErrNoPair is returned for a pair or payload that does not exist.
	ErrNoPair = errors.New("no such message")
	// ErrNoBranches is returned if the store is not a BranchStore.
	ErrNoBranches = errors.New("this history does not support branches")
	// ErrSessionExists is returned when a new session has an id that is already
	// in use.
	ErrSessionExists = errors.New("the session already exists")
	// ErrNotAction is returned for an action that the program cannot carry out
	// on the current page.
	ErrNotAction = errors.New("there is no such action here")
	// ErrNotAsked is returned for an answer to a question that is not waiting
	// for one.
	ErrNotAsked = errors.New("no question is waiting for this answer")
	// ErrNoJournal is returned by methods that need checkpoints if the session
	// has none.
	ErrNoJournal = errors.New("this session has no checkpoints")
	// ErrNotSaver is returned if the window is not a Saver.
	ErrNotSaver = errors.New("this window does not support saving")
	// ErrMoved is returned when the object of an action has changed since it
	// was shown. Callers put the subject in front of its text: "the rules
	// have %w".
	ErrMoved = errors.New("changed since they were shown: review them and try again")
	// ErrRounds ends Conversation.Run when it reaches the limit of tool-call
	// rounds. The messages so far are kept; another Run continues.
	ErrRounds = errors.New("the limit on tool-call rounds has been reached")
)

// UnrecordedError reports a change that was made but could not be recorded.
type UnrecordedError struct {
	What string // what was done, as a clause such as "the rollback was done"
	Err  error
}

func (e *UnrecordedError) Error() string {
	return fmt.Sprintf("%s, but could not be recorded: %v", e.What, e.Err)
}

func (e *UnrecordedError) Unwrap() error { return e.Err }

// TurnError reports why a turn failed.
type TurnError struct {
	Code    string // an llm.Kind or one of the Code constants
	Message string // for users
	Err     error  // a *llm.RequestError for a failed request, a *llm.ConfigError if the window moved to an unknown page; may be nil
}

func (e *TurnError) Error() string { return e.Code + ": " + e.Message }

func (e *TurnError) Unwrap() error { return e.Err }

// DeltaError reports a delta of a builder that cannot be applied to its
// conversation.
type DeltaError struct {
	Delta string // name of the delta, for example "model" or "tools"
	Err   error
}

func (e *DeltaError) Error() string { return fmt.Sprintf("delta %s: %v", e.Delta, e.Err) }

func (e *DeltaError) Unwrap() error { return e.Err }
