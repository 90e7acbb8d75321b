package sshserver

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"winnow/assistant/serve"
)

// measured returns a rig with metrics.
func measured(t *testing.T, change ...func(*Options)) (r *rig, counted func(want ...string)) {
	t.Helper()
	m := serve.NewMetrics("test")
	r = newRig(t, append(change, func(o *Options) { o.Metrics = m })...)
	return r, func(want ...string) {
		t.Helper()
		eventually(t, fmt.Sprintf("the metrics have %q", want), func() bool {
			w := httptest.NewRecorder()
			m.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
			for _, line := range want {
				if !strings.Contains(w.Body.String(), line+"\n") {
					return false
				}
			}
			return true
		})
	}
}

// goesOn checks that a user can work.
func (r *rig) goesOn(user string) {
	r.t.Helper()
	s := r.open(r.client(user))
	s.press("a draft")
	s.wait("a draft")
}

// logged checks what the log says.
func (r *rig) logged(want string) {
	r.t.Helper()
	if log := r.log.String(); !strings.Contains(log, want) {
		r.t.Errorf("the log has no %q", want)
	}
}

// One key opens a hundred connections: those above the limit are refused.
func TestAHundredConnectionsOfOneKey(t *testing.T) {
	const asked = 100
	r, counted := measured(t)
	why := ""
	for i := range asked {
		if got := refused(t, r.client("anna")); (got == "") != (i < DefaultPerUser) {
			t.Fatalf("connection %d: %q", i, got)
		} else if got != "" {
			why = got
		}
	}
	if !strings.Contains(why, "close one first") {
		t.Errorf("the reason is %q", why)
	}
	r.goesOn("bert")
	counted(fmt.Sprintf(`winnow_refused_total{reason="connections",server="ssh"} %d`, asked-DefaultPerUser), fmt.Sprintf(`winnow_connections{server="ssh"} %d`, DefaultPerUser+1))
	r.logged("connection refused")
}

// A client that claims to have a huge screen gets one of the usual limit.
func TestAHugeScreenIsCut(t *testing.T) {
	const huge = 100_000
	r, counted := measured(t, func(o *Options) { o.Width, o.Height = 60, 20 })
	s := &screen{t: t, out: newDisplay(t)}
	var err error
	s.Session, err = r.client("anna").NewSession()
	r.must(err)
	s.keys, err = s.StdinPipe()
	r.must(err)
	s.Stdout, s.Stderr = s.out, s.out
	r.must(s.RequestPty("xterm-256color", huge, huge, ssh.TerminalModes{}))
	r.must(s.Shell())
	s.wait("INPUT")
	r.must(s.WindowChange(huge, huge))
	s.press("still here")
	s.wait("still here")
	if widest := strings.Repeat("─", 61); strings.Contains(s.out.frame(), widest) {
		t.Errorf("a line is longer than the limit:\n%s", s.out.frame())
	}
	counted(`winnow_refused_total{reason="screen_size",server="ssh"} 2`)
	r.logged("100000x100000")
	r.goesOn("bert")
}

// One silent connection from each of many addresses: the server holds some of them.
func TestSilentConnectionsOfManyAddressesAreBounded(t *testing.T) {
	const limit, asked = 3, 9
	r, counted := measured(t, func(o *Options) { o.Logins = limit })
	for i := range asked {
		r.silent(fmt.Sprint("127.0.1.", i+1))
	}
	counted(fmt.Sprintf(`winnow_refused_total{reason="logins",server="ssh"} %d`, asked-limit))
	r.logged("dropped before login")
	r.goesOn("bert")
}

// What may not log in, what is dropped before its login, and what is not served are counted.
func TestRefusalsAreCounted(t *testing.T) {
	r, counted := measured(t, func(o *Options) { o.AddressLogins = 2 })
	if _, err := r.dial("stranger"); err == nil {
		t.Error("a stranger logs in")
	}
	eventually(t, "the connection has ended", func() bool { return strings.Contains(r.log.String(), "login failed") })
	for range 5 {
		r.silent("127.0.0.1")
	}
	c := r.client("anna")
	if _, err := c.Dial("tcp", "127.0.0.1:1"); err == nil {
		t.Error("a tunnel is opened")
	}
	counted(`winnow_refused_total{reason="key",server="ssh"} 1`, `winnow_refused_total{reason="request",server="ssh"} 1`, `winnow_refused_total{reason="logins",server="ssh"} 4`)
	r.goesOn("bert")
}
