package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// packaged reads a file of the folder packaging.
func packaged(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("packaging", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// value returns the value of a setting of a unit, or "".
func value(unit, name string) string {
	m := regexp.MustCompile(`(?m)^` + name + `=(.*)$`).FindStringSubmatch(unit)
	if m == nil {
		return ""
	}
	return m[1]
}

// checkServe checks the flags of a command line of winnow serve.
func checkServe(t *testing.T, line []string) {
	t.Helper()
	var f listenFlags
	set := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	f.Bind(set)
	if err := set.Parse(line); err != nil {
		t.Fatalf("winnow serve %q: %v", line, err)
	}
	if err := f.Check(); err != nil || set.NArg() > 0 {
		t.Errorf("winnow serve %q: %v, %q", line, err, set.Args())
	}
}

func TestTheUnitsFitTheProgram(t *testing.T) {
	unit := packaged(t, "winnow.service")
	line, ok := strings.CutPrefix(value(unit, "ExecStart"), "/usr/bin/winnow serve ")
	if !ok {
		t.Fatalf("ExecStart is %q", value(unit, "ExecStart"))
	}
	_, flags, _ := strings.Cut(value(unit, "Environment"), "WINNOW_SERVE=")
	checkServe(t, strings.Fields(strings.Replace(line, "$WINNOW_SERVE", strings.Trim(flags, `"`), 1)))
	if value(unit, "Type") != "notify" || value(unit, "ExecReload") != "/bin/kill -HUP $MAINPID" {
		t.Error("the unit does not use notices and SIGHUP")
	}
	for _, name := range []string{"http", "ssh"} {
		socket := packaged(t, "winnow-"+name+".socket")
		if value(socket, "FileDescriptorName") != name || value(socket, "Service") != "winnow.service" || value(socket, "ListenStream") == "" {
			t.Errorf("the socket %s is %s", name, socket)
		}
	}
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Log("left out: there is no systemd-analyze to verify the units")
		return
	}
	dir := t.TempDir()
	for _, name := range []string{"winnow.service", "winnow-http.socket", "winnow-ssh.socket"} {
		text := strings.ReplaceAll(packaged(t, name), "/usr/bin/winnow", "/bin/true") // the program need not be installed
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "systemd-analyze", "verify", "--man=no", filepath.Join(dir, "winnow.service"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("systemd-analyze: %v: %s", err, out)
	}
}

func TestTheImageFitsTheProgram(t *testing.T) {
	image := packaged(t, "Containerfile")
	list := func(instruction string) (words []string) {
		t.Helper()
		m := regexp.MustCompile(`(?m)^` + instruction + ` (\[.*\])$`).FindStringSubmatch(image)
		if m == nil || json.Unmarshal([]byte(m[1]), &words) != nil {
			t.Fatalf("there is no %s", instruction)
		}
		return words
	}
	command := list("CMD")
	if command[0] != "serve" {
		t.Errorf("the command is %q", command)
	}
	checkServe(t, command[1:])
	health := list("HEALTHCHECK .* CMD")
	if url := health[len(health)-1]; url != "http://127.0.0.1:9090/readyz" || !strings.Contains(strings.Join(command, " "), "--metrics 127.0.0.1:9090") {
		t.Errorf("the health check asks %s, and the command is %q", url, command)
	}
	compose := packaged(t, "compose.yaml")
	for _, volume := range list("VOLUME") {
		if !strings.Contains(compose, ":"+volume+"\n") {
			t.Errorf("the compose file mounts nothing at %s", volume)
		}
	}
}
