package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"winnow/assistant"
	"winnow/assistant/serve"
	"winnow/tui/plain"
)

func tokenCommand(a *app) *cobra.Command {
	g := group("token", "Show and change who may use winnow serve over HTTP", tokenAddCommand(a), tokenListCommand(a), tokenRemoveCommand(a))
	g.Long = "Every token has a role and belongs to a user, who is named as the author of everything\ndone with the token. The roles:\n\n" +
		"  metrics  read /metrics and nothing else\n" +
		"  read     look, but change nothing\n" +
		"  propose  talk to the assistant; every change becomes a proposal\n" +
		"  write    change the rules, and undo your own changes\n" +
		"  save     save, accept proposals, discard and undo others' changes (default)\n" +
		"  admin    manage tokens, read metrics, end other users' sessions\n\n" +
		"From propose on, each role includes the role above it.\n" +
		"The role of an SSH key is an option of its line in --authorized-keys: winnow-role=\"propose\".\n" +
		"Only the hashes of tokens are stored. Removing a token ends its sessions within a second."
	return g
}

// tokens returns the file with the access tokens of winnow serve.
func (a *app) tokens() (serve.Tokens, error) {
	h, err := a.folders()
	return serve.Tokens{Path: h.Tokens()}, err
}

func tokenAddCommand(a *app) *cobra.Command {
	var role, expires string
	c := command("add NAME", "Add a token for a user, and print it once", 1, 1, func(_ context.Context, args []string) error {
		as, err := assistant.ParseRole(role)
		if err != nil {
			return &usageError{"winnow token add", err.Error()}
		}
		lifetime, err := lifetimeOf(expires)
		if err != nil {
			return &usageError{"winnow token add", err.Error()}
		}
		file, err := a.tokens()
		if err != nil {
			return err
		}
		token, added, err := file.Add(args[0], as, lifetime)
		if errors.Is(err, serve.ErrTokenExists) {
			return advise(fmt.Errorf("%s already has a token", args[0]), "winnow token remove %s removes it", args[0])
		}
		if err != nil {
			return err
		}
		a.printErr("%s has the role %s; the token is shown only once", added.Name, added.Role)
		return a.emit(map[string]any{"name": added.Name, "role": added.Role, "expires": added.Expires, "token": token}, token)
	})
	c.Flags().StringVar(&role, "role", string(assistant.RoleSave), "the ROLE of the user: metrics, read, propose, write, save or admin")
	c.Flags().StringVar(&expires, "expires", "", "let the token expire after TIME, such as 30d or 12h; the default is never")
	c.Example = "winnow token add anna\nwinnow token add prometheus --role metrics\nwinnow token add agent --role propose --expires 30d"
	return c
}

// lifetimeOf parses a time such as 30d or 12h. It returns 0 for "", which means that the token never expires.
func lifetimeOf(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	const day, most = 24 * time.Hour, 36500
	if days, found := strings.CutSuffix(text, "d"); found {
		if n, err := strconv.Atoi(days); err == nil && n > 0 && n <= most {
			return time.Duration(n) * day, nil
		}
	} else if d, err := time.ParseDuration(text); err == nil && d >= time.Second {
		return d, nil
	}
	return 0, fmt.Errorf("--expires %s: use a time such as 30d or 12h", text)
}

func tokenListCommand(a *app) *cobra.Command {
	return command("list", "List the tokens", 0, 0, func(context.Context, []string) error {
		file, err := a.tokens()
		if err != nil {
			return err
		}
		all, err := file.List()
		if err != nil {
			return err
		}
		type row struct {
			Name    string         `json:"name"`
			Role    assistant.Role `json:"role"`
			Created time.Time      `json:"created"`
			Expires time.Time      `json:"expires,omitzero"`
			Expired bool           `json:"expired"`
		}
		out, rows := []row{}, [][]string{}
		for _, t := range all {
			r := row{t.Name, t.Role, t.Created, t.Expires, t.Expired(time.Now())}
			ends := "never"
			if !r.Expires.IsZero() {
				ends = r.Expires.Local().Format(timeLayout)
			}
			if r.Expired {
				ends += " (expired)"
			}
			out, rows = append(out, r), append(rows, []string{r.Name, string(r.Role), r.Created.Local().Format(timeLayout), ends})
		}
		return a.emit(map[string]any{"tokens": out}, plain.Table("there are no tokens yet", []string{"name", "role", "added", "expires"}, rows)...)
	})
}

func tokenRemoveCommand(a *app) *cobra.Command {
	return command("remove NAME", "Remove a token; its sessions end within a second", 1, 1, func(_ context.Context, args []string) error {
		file, err := a.tokens()
		if err != nil {
			return err
		}
		err = file.Remove(args[0])
		if errors.Is(err, serve.ErrNoToken) {
			return advise(fmt.Errorf("there is no token for %s", args[0]), "winnow token list lists the tokens")
		}
		if err != nil {
			return err
		}
		return a.emit(map[string]any{"removed": args[0]}, "removed the token of "+args[0])
	})
}
