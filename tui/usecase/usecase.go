package usecase

import (
	"cmp"
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/serve"
	"winnow/assistant/workspace"
)

// Commands creates the commands of a screen. Call Bind before use.
type Commands struct {
	work   *workspace.Workspace
	store  history.Store
	served *serve.Session
	// answerWait is how long a question of a turn may stay unanswered; 0 means no limit.
	answerWait time.Duration
}

// Source contains the workspace on which the commands work, with its history and its hub
// session.
type Source struct {
	Work    *workspace.Workspace
	History history.Store // history of Work; nil if nothing is stored and the view shows only the session
	// Served is the hub session whose Workspace is Work; nil if the session does not share its
	// window.
	Served *serve.Session
	// AnswerWait is how long a question in one of Served's turns may stay unanswered; 0 means
	// serve.AnswerWait.
	AnswerWait time.Duration
}

// AnswerWait returns how long a question of a turn may stay unanswered; 0 means no limit.
func (c *Commands) AnswerWait() time.Duration { return c.answerWait }

// Bind sets the source on which the commands work.
func (c *Commands) Bind(s Source) {
	c.work, c.store, c.served = s.Work, s.History, s.Served
	if s.Served != nil {
		c.answerWait = cmp.Or(s.AnswerWait, serve.AnswerWait)
	}
}

// Stores reports whether there is a history.
func (c *Commands) Stores() bool { return c.store != nil }

// Outcome is the result of a command: one of the types that embed a Reply.
//
// Saving: SavePlanned, Conflicted, Merged, Saved, Applied. Discarding: DiscardPlanned,
// Discarded. Saving, discarding or rolling back: PlanChanged. Undoing: UndoPlanned,
// RolledBack, RollbackUndone. Pairs: PairsLoaded, Starred, Flagged, TopicSet, AnswerChosen, Deleted,
// RetryReady, ReAskBegun. Topics: TopicSelected, TopicsChanged. Filtering: Counted,
// Filtered, CommandPlanned, Executed, CommandUndone, Refiltered, Matched, Found, NamesRead.
// Sessions: SessionsListed, RecentSessionsRead, SessionOpened, AboutRead, SessionTitled,
// CancelledKept, AskedAgain, CostRead. Models: ModelsRefreshed, ModelPicked,
// FavouritesChanged. Settings: SettingChanged. Drafts: DraftStored, SentStored,
// StartCounted. Turns: MessageQueued, QueueForgotten, Decided. Requests: RequestsRead.
// Panes: Edited, EffectsRead. Confirmation: ConfirmWanted. Errors: Failed.
type Outcome interface{ Ended() Reply }

// Reply is part of every Outcome.
type Reply struct {
	Request int64           // the number that the caller assigned to the command
	Session string          // id of the session in which the command started
	State   assistant.State // the state after the command
}

// Ended implements Outcome.
func (r Reply) Ended() Reply { return r }

// Failed is the outcome of a command that returned an error.
type Failed struct {
	Reply
	Doing string // what the command was doing, as in "store the draft"
	Err   error
}

// call is a running command.
type call struct {
	*workspace.Workspace
	store   history.Store
	request int64
	begun   string // id of the session in which the command started
}

// reply returns the Reply of the command. Call it after the use case has ended.
func (c call) reply() Reply { return Reply{c.request, c.begun, c.Session().State()} }

// command returns the command for a request; nil until Bind is called. If do returns an error,
// the outcome is Failed.
func (c *Commands) command(request int64, doing string, do func(context.Context, call) (Outcome, error)) tea.Cmd {
	if c.work == nil {
		return nil
	}
	now := call{c.work, c.store, request, c.work.Session().ID()}
	return func() tea.Msg {
		outcome, err := do(context.Background(), now)
		if err != nil {
			return Failed{now.reply(), doing, err}
		}
		return outcome
	}
}
