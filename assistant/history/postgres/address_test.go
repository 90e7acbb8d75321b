//go:build unix

package postgres

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/assistant/history"
)

func TestAPlainConnectionIsForThisMachineOnly(t *testing.T) {
	for address, ok := range map[string]bool{
		"postgres://anna@db.example/team":                                  true,
		"postgres://anna@db.example/team?sslmode=verify-full":              true,
		"postgres://anna@db.example/team?sslmode=disable":                  false,
		"postgres://anna@db.example/team?sslmode=allow":                    false,
		"postgres://anna@192.0.2.1/team?sslmode=disable":                   false,
		"postgres://anna@localhost,db.example/team?sslmode=disable":        true, // the second is left out
		"postgres://anna@127.0.0.1/team?sslmode=disable":                   true,
		"postgres://anna@[::1]:5433/team?sslmode=disable":                  true,
		"postgres://anna@localhost/team?sslmode=disable":                   true,
		"postgres://anna@/team?host=/run/postgresql&sslmode=disable":       true,
		"postgres://anna@localhost.db.example/team?sslmode=disable":        false,
		"mysql://anna@db.example/team":                                     false,
		"/home/anna/history.db":                                            false,
		"postgres://anna:s3cret@db.example/team":                           false,
		"postgres://db.example/team?password=s3cret":                       false,
		"postgres://anna@db.example/team?sslmode=nonsense":                 false,
		"postgres://anna@db.example/team?sslmode=prefer&connect_timeout=9": true,
	} {
		c, _, err := parseAddress(address, "")
		if (err == nil) != ok {
			t.Errorf("%s: %v, want accepted %v", address, err, ok)
			continue
		}
		if err != nil {
			continue
		}
		conn := c.ConnConfig.Config
		if !local(conn.Host) && conn.TLSConfig == nil {
			t.Errorf("%s: the first way to %s is without TLS", address, conn.Host)
		}
		for _, way := range conn.Fallbacks {
			if !local(way.Host) && way.TLSConfig == nil {
				t.Errorf("%s: there is a way to %s without TLS", address, way.Host)
			}
		}
	}
}

// The password comes from the option, else from PGPASSWORD, the service file or
// the password file.
func TestWhereThePasswordComesFrom(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "pass"), []byte("*:*:*:*:of the file\n"), 0o600),
		os.WriteFile(filepath.Join(dir, "service"), []byte("[team]\nhost=localhost\ndbname=team\nuser=anna\npassword=of the service\n"), 0o600))
	t.Setenv("PGPASSFILE", filepath.Join(dir, "pass"))
	t.Setenv("PGSERVICEFILE", filepath.Join(dir, "service"))
	check := func(address, option, want string) {
		t.Helper()
		c, _, err := parseAddress(address, option)
		if err != nil || c.ConnConfig.Password != want {
			t.Errorf("%s: %v, want the password %q", address, err, want)
		}
	}
	check("postgres://anna@localhost/team", "", "of the file")
	check("postgres:///?service=team", "", "of the service")
	t.Setenv("PGPASSWORD", "of the variable")
	check("postgres://anna@localhost/team", "", "of the variable")
	check("postgres://anna@localhost/team", "of the option", "of the option")
}

func TestAnAddressWithAPasswordIsRefused(t *testing.T) {
	for address, want := range map[string]error{
		"postgres://anna:secret@localhost/team": errPassword, "postgres://anna:@localhost/team": errPassword, "postgres://anna@localhost/team?password=x": errPassword,
		"postgres://anna@localhost/team": nil, "mysql://anna@localhost/team": errAddress, "postgres://%zz": errAddress,
	} {
		if _, _, err := parseAddress(address, ""); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", address, err, want)
		}
	}
}

// No error and no log line contains a password, wherever it stands.
func TestAPasswordIsInNoText(t *testing.T) {
	const password = "s3cret/ü"
	t.Setenv("PGPASSWORD", password)
	var logged bytes.Buffer
	options := Options{Password: password, Log: slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	for _, address := range []string{
		"postgres://anna:s3cret%2F%C3%BC@localhost:1/team", "postgres://anna:s3cret/ü@localhost/team", "postgres://anna@localhost:1/team",
		"postgres://anna@localhost:1/team?password=s3cret/ü", "postgres://anna@localhost:1/team?sslmode=x", "s3cret/ü", "postgres://:s3cret/ü@%zz",
		"postgres://anna@/team?host=/nowhere",
	} {
		_, err := Open(t.Context(), address, options)
		if err == nil {
			t.Fatalf("%s was opened", address)
		}
		for ; err != nil; err = errors.Unwrap(err) {
			logged.WriteString(fmt.Sprintf("%v %+v %#v\n", err, err, err.Error()))
		}
	}
	if strings.Contains(logged.String(), "s3cret") {
		t.Errorf("the password is in\n%s", logged.String())
	}
	if logged.Len() == 0 {
		t.Error("nothing was said")
	}
}

func TestThePathSaysWhereWithoutSecrets(t *testing.T) {
	s := newStore(t)
	if want := "postgres://winnow@/"; !strings.HasPrefix(s.Path(), want) {
		t.Errorf("Path = %s, want %s…", s.Path(), want)
	}
	_, err := Open(t.Context(), "postgres://anna@/none?host="+shared.dir, Options{})
	var storage *history.StorageError
	if !errors.As(err, &storage) || storage.Op != "open" {
		t.Errorf("a role that does not exist: %v, want a *StorageError", err)
	}
}
