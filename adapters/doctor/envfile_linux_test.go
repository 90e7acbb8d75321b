package doctor

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// mountedEnv makes the test binary mount a file over the `.env` that it names.
const mountedEnv = "WINNOW_DOCTOR_TEST_MOUNTED"

func TestAnEnvFileMountedByItself(t *testing.T) {
	const want = "mounted as a single file: a save writes it in place"
	if path := os.Getenv(mountedEnv); path != "" {
		if syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, "") != nil || syscall.Mount(path+".host", path, "", syscall.MS_BIND, "") != nil {
			t.Skip("cannot mount here")
		}
		check(t, EnvFile(path), OK, want, "")
		return
	}
	path := filepath.Join(t.TempDir(), ".env")
	write(t, path, "A=1\n", 0o600)
	write(t, path+".host", "A=1\n", 0o600)
	if f := EnvFile(path); strings.Contains(f.Detail, want) {
		t.Errorf("a plain file: %+v", f)
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can mount")
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestAnEnvFileMountedByItself$")
	cmd.Env = append(os.Environ(), mountedEnv+"="+path)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
