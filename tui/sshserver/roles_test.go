package sshserver

import (
	"os"
	"strings"
	"testing"
	"time"

	"winnow/assistant"
)

// rewrite changes the file of keys.
func (r *rig) rewrite(change func(text string) string) {
	r.t.Helper()
	raw, err := os.ReadFile(r.file("keys"))
	r.must(err)
	r.must(os.WriteFile(r.file("new"), []byte(change(string(raw))), 0o600))
	r.must(os.Rename(r.file("new"), r.file("keys")))
}

// grant gives the key of a user options.
func (r *rig) grant(user, options string) {
	r.t.Helper()
	r.rewrite(func(text string) string {
		lines := strings.Split(text, "\n")
		for i, line := range lines {
			if strings.HasSuffix(line, " "+user) {
				lines[i] = options + " " + line[strings.Index(line, "ssh-"):]
			}
		}
		return strings.Join(lines, "\n")
	})
}

func TestTheRoleOfAKeyIsThatOfItsSession(t *testing.T) {
	r := newRig(t)
	r.grant("bert", `restrict,winnow-role="propose"`)
	for user, want := range map[string]assistant.Role{"anna": assistant.RoleSave, "bert": assistant.RolePropose} {
		s := r.open(r.client(user))
		for _, open := range r.hub.Sessions() {
			if open.User() == user && open.Session().Role() != want {
				t.Errorf("%s has the role %q", user, open.Session().Role())
			}
		}
		_ = s.Close()
	}
}

func TestAProposalOverSSHIsAcceptedByAnother(t *testing.T) {
	r := newRig(t)
	r.grant("bert", `winnow-role="propose"`)
	s := r.open(r.client("bert"))
	s.press("call add_word owl\n")
	s.wait("Proposed")
	if got := strings.Join(r.window.Words(), " "); got != "one" {
		t.Errorf("the words are %s", got)
	}
}

func TestARemovedKeyEndsItsConnections(t *testing.T) {
	for name, change := range map[string]func(r *rig){
		"removed":      func(r *rig) { r.grant("bert", "#") },
		"another role": func(r *rig) { r.grant("bert", `winnow-role="read"`) },
		"file removed": func(r *rig) { r.must(os.Remove(r.file("keys"))) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(o *Options) { o.interval = 5 * time.Millisecond })
			s := r.open(r.client("bert"))
			change(r)
			s.ended()
			eventually(t, "the session is closed", func() bool { return len(r.hub.Sessions()) == 0 })
		})
	}
}
