package fleet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"winnow/adapters/modelfilter"
	"winnow/assistant"
	"winnow/assistant/safetext"
)

// State is the progress of a job.
type State string

// The states of a job.
const (
	Unchanged State = "unchanged" // the target already has these rules
	Planned   State = "planned"   // the rules are staged on the target, and Plan is what a save would do
	Saved     State = "saved"
	Discarded State = "discarded" // the plan was dropped, and nothing is staged
	Failed    State = "failed"    // see Error
)

// Job copies rules to one target.
type Job struct {
	Target string              `json:"target"`
	State  State               `json:"state"`
	Plan   *assistant.SavePlan `json:"plan,omitempty"`
	Notes  []string            `json:"notes,omitempty"` // rules that were not copied, one sentence each
	Saved  *assistant.Saved    `json:"saved,omitempty"`
	Staged bool                `json:"staged"` // unsaved changes of this job are, or may be, staged on the target
	Error  string              `json:"error,omitempty"`

	on Target
}

// fail ends the job with an error.
func (j *Job) fail(err error) { j.State, j.Error = Failed, err.Error() }

// Plan stages the rules of the source on each target where they differ: the rules of one provider or, if provider is
// "", of all providers. Plan contacts all targets at the same time.
func Plan(ctx context.Context, source modelfilter.Exported, provider string, targets []Target) []*Job {
	jobs := make([]*Job, len(targets))
	var group sync.WaitGroup
	for i, t := range targets {
		jobs[i] = &Job{Target: t.Name(), on: t}
		group.Go(func() { jobs[i].plan(ctx, source, provider) })
	}
	group.Wait()
	return jobs
}

func (j *Job) plan(ctx context.Context, source modelfilter.Exported, only string) {
	now, err := j.on.Export(ctx)
	if err != nil {
		j.fail(err)
		return
	}
	var rules []Rules
	rules, j.Notes = missing(source, now, only)
	if len(rules) == 0 {
		j.State = Unchanged
		return
	}
	if now.Unsaved {
		j.fail(errors.New("it has unsaved changes, which a save would include: save or discard them there first"))
		return
	}
	plan, user, err := j.on.Stage(ctx, rules)
	j.Staged = true
	if err == nil {
		err = refuse(plan, user)
	}
	if err != nil {
		if now, exportErr := j.on.Export(ctx); exportErr == nil {
			j.Staged = now.Unsaved
		}
		j.fail(err)
		return
	}
	j.State, j.Plan = Planned, &plan
}

// refuse returns the reason why a plan must not be saved, or nil.
func refuse(plan assistant.SavePlan, user string) error {
	if plan.Conflict != nil {
		return plan.Conflict
	}
	for _, c := range plan.Changes {
		if user != "" && c.By.User != "" && c.By.User != user {
			return fmt.Errorf("%s has since staged changes there, which a save would include", c.By.Name())
		}
	}
	return nil
}

// missing returns the rules to copy from the source to a target, and a note for each provider whose rules differ but
// cannot be copied.
func missing(source, target modelfilter.Exported, only string) (rules []Rules, notes []string) {
	for _, name := range providers(source, target) {
		from, inSource := providerOf(source, name)
		to, inTarget := providerOf(target, name)
		same := equal(from.Ignore, to.Ignore) && equal(from.Allow, to.Allow)
		switch {
		case same || only != "" && name != only:
		case !inSource:
			notes = append(notes, fmt.Sprintf("the rules of %s are unchanged, because the source does not have this provider", name))
		case !inTarget:
			notes = append(notes, fmt.Sprintf("the rules of %s are left out, because the target does not have this provider", name))
		default:
			rules = append(rules, Rules{name, from.Ignore, from.Allow})
		}
	}
	return rules, notes
}

// equal reports whether two lists have the same rules; their order does not matter to the proxy.
func equal(a, b []string) bool { return len(without(a, b)) == 0 && len(without(b, a)) == 0 }

// ErrChanged is returned for a plan that was not saved because it has changed since it was shown.
var ErrChanged = errors.New("nothing was saved there, because the plan has changed since it was shown")

// changedBy returns ErrChanged with the users who changed the plan, if they are known.
func changedBy(users []string) error {
	if len(users) == 0 {
		return ErrChanged
	}
	return fmt.Errorf("%w (changed by %s)", ErrChanged, safetext.Visible(strings.Join(users, ", ")))
}

// Save saves each planned job, using the digest of its plan as the basis.
func Save(ctx context.Context, jobs []*Job) {
	for _, j := range jobs {
		if j.State != Planned {
			continue
		}
		saved, err := j.on.Save(ctx, j.Plan.Digest)
		if changed, ok := errors.AsType[*assistant.PlanChanged](err); ok {
			err = changedBy(changed.By)
		}
		if err != nil {
			j.fail(err)
			continue
		}
		j.State, j.Saved, j.Staged = Saved, &saved, false
	}
}

// Discard discards the changes that each planned job has staged.
func Discard(ctx context.Context, jobs []*Job) {
	for _, j := range jobs {
		if j.State != Planned {
			continue
		}
		if err := j.on.Discard(ctx, j.Plan.Digest); err != nil {
			j.fail(err)
			continue
		}
		j.State, j.Staged = Discarded, false
	}
}
