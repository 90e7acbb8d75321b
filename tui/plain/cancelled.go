package plain

import (
	"context"
	"errors"
	"fmt"

	"winnow/assistant"
	"winnow/assistant/history"
)

// offerCancelled says what the user can do with a cancelled answer, if there is one.
func (c *console) offerCancelled() {
	p := c.workspace.Cancelled()
	if p == nil {
		return
	}
	what := "Only reasoning had arrived."
	if n := assistant.PartialWords(p); n > 0 {
		what = assistant.Counted(n, "word") + " of the answer had arrived."
	}
	c.out.Line(what + " Until you send another message, /keep keeps this part and /again sends the cancelled message again.")
}

// keep keeps the cancelled answer.
func (c *console) keep(ctx context.Context, _ string) error {
	p, err := c.workspace.KeepCancelled(ctx)
	if err != nil {
		return err
	}
	if all, _ := p.Answers(); len(all) > 1 {
		c.out.Line(fmt.Sprintf("Kept as answer %d of %d; /answer %d chooses it.", len(all), len(all), len(all)))
	} else {
		c.out.Line("Kept. Requests leave it out because it is incomplete. /message shows it.")
	}
	return nil
}

// again sends the cancelled message again.
func (c *console) again(ctx context.Context, _ string) error {
	p, err := c.workspace.AskAgain(ctx)
	if err != nil {
		return err
	}
	return c.send(ctx, p, p.Text)
}

// branch starts a session that branches off at the pair with the given number, or at the
// last pair.
func (c *console) branch(ctx context.Context, number string) error {
	i, seq, err := c.pairAt(number)
	if err != nil {
		return err
	}
	before := c.session.ID()
	if err = c.workspace.Branch(ctx, seq); c.session.ID() == before {
		return err
	}
	c.unsent = unsent{}
	c.out.Line(fmt.Sprintf("This is a new session that continues from message %d. The old session is in the history. Unsaved changes stay.", i+1))
	return err
}

// title shows the title of the session or sets it; "-" restores the default title.
func (c *console) title(ctx context.Context, title string) error {
	before, err := c.workspace.Title(ctx)
	now := before
	newTitle := title
	if title == "-" {
		newTitle = "" // the default title is the first message
	}
	if title != "" && err == nil {
		now, err = c.workspace.SetTitle(ctx, newTitle)
	}
	switch {
	case errors.Is(err, history.ErrNoSession), err == nil && now == "":
		return reply("This session has no messages yet; its first message becomes its title.")
	case err != nil:
		return err
	}
	text := "This session is called " + Quote(now)
	if now != before {
		text += "; it was called " + Quote(before)
	}
	c.out.Line(text + ".")
	return nil
}

// cost prints the cost of the session's answers.
func (c *console) cost(ctx context.Context, _ string) error {
	sum, err := c.workspace.Cost(ctx)
	if err == nil {
		c.out.Line(assistant.UpperFirst(sum.String()) + ".")
	}
	return err
}
