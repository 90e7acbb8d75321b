// Package usecase separates the screen from the workspace: Commands is the only part of the
// screen that has access to the session, its window and its history.
//
// # Types
//
// A method of Commands returns a tea.Cmd. The command calls one use case of the workspace,
// outside the update loop, and ends with one Outcome, a typed message. Every Outcome
// contains a Reply: the request number assigned by the caller, and the state after the
// command. A screen applies the state first, so it does not matter whether the outcome
// arrives before or after the log entry for the same change.
//
// An error becomes Failed, unless the use case has its own outcome for the error, such as
// PlanChanged if the plan is no longer the plan that the user has seen, or Conflicted if the
// unsaved rules conflict with what another program did to the file.
//
// # How to add a use case
//
//  1. Declare the outcome next to its method, with an embedded Reply, and add its name to
//     the comment on Outcome. If the workspace lacks the operation, add it there first.
//  2. Add the method, which calls the workspace in a function passed to Commands.command;
//     see PlanSave. A use case that asks first uses Commands.confirmed instead, and
//     (*Model).askConfirm must word its question, or the question never appears; see
//     NewSession.
//  3. In package tui, start the use case: with (*acts).add if it changes something, so that
//     acts run one at a time in the order of the key presses; with (*acts).query if it only
//     reads. A component below the root model returns an intent for this. An action that
//     only changes the window of the pane needs no use case: the pane returns a pane.Edit.
//  4. Show the outcome in (*Model).showOutcome. If a flow has several steps, give it a
//     small struct with the step and the number of the request it waits for; see saving.
//  5. The outcome of an act cannot arrive too late, because the next act waits for it. The
//     outcome of a read can: keep the number of the last request and drop every other
//     outcome (requestList.reading), or compare what was asked for (Found.Text). If the
//     outcome depends on the shown session, add it to (*Model).late. Tests:
//     lateresults_test.go and acts_test.go.
//
// # Concurrency
//
// Commands must be used by the goroutine that runs Update; the commands it returns run in
// others. Outcomes are values; what they point to must not be changed.
//
// # Caveats
//
// Call Bind before the first command. A command has no deadline: if the store hangs, its
// outcome does not arrive, and the screen continues to work.
package usecase
