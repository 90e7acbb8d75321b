package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// With a home on a read-only disk, everything that does not write works.
func TestAReadOnlyHomeIsRead(t *testing.T) {
	unshare, err := exec.LookPath("unshare")
	if err != nil || os.Geteuid() != 0 {
		t.Skipf("only root may mount a folder read-only, with unshare (%v)", err)
	}
	dir := t.TempDir()
	home := filepath.Join(dir, "home")
	if err := os.WriteFile(filepath.Join(dir, ".env"), []byte(providerKeys), 0o600); err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "WINNOW_HOME="+home, "WINNOW_LOCAL_SERVERS=false", "PROXY_BASE_URL="+refused)
	winnow := func(readOnly bool, line string) (out, fault string, failed error) {
		t.Helper()
		mount := ""
		if readOnly {
			mount = fmt.Sprintf("mount --make-rprivate / && mount --bind %[1]q %[1]q && mount -o remount,bind,ro %[1]q || exit 99; ", home)
		}
		cmd := exec.CommandContext(t.Context(), unshare, "--mount", "sh", "-c", mount+"exec winnow "+line)
		cmd.Dir, cmd.Env = dir, env
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		failed = cmd.Run()
		if cmd.ProcessState.ExitCode() == 99 {
			t.Skipf("mounting is not possible on this machine: %s", stderr.String())
		}
		return stdout.String(), stderr.String(), failed
	}
	if _, fault, err := winnow(false, `ask "hide all preview models"`); err != nil {
		t.Fatal(err, fault)
	}
	for line, want := range map[string]string{
		`history search "c'preview'"`: "hide all preview models",
		"history export":              `"user_text":"hide all preview models"`,
		"history sessions":            "offline/rules",
		"checkpoints list":            "",
		"rules list":                  "",
	} {
		out, fault, err := winnow(true, line)
		if err != nil || !strings.Contains(out, want) {
			t.Errorf("winnow %s: %v\n%s%s", line, err, out, fault)
		}
		if strings.HasPrefix(line, "history") && !strings.Contains(fault, "the history is read-only: "+filepath.Join(home, "data", "history.db")+": the disk is read-only") {
			t.Errorf("winnow %s does not say why: %s", line, fault)
		}
	}
	if _, fault, err := winnow(true, "ask hello"); err == nil || !strings.Contains(fault, "could not be stored, so it was not sent") {
		t.Errorf("a message that cannot be stored: %v, %s", err, fault)
	}
}
