package endpoints

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"winnow/adapters/config"
	"winnow/adapters/modelfilter/usage"
)

// stats serves an answer to the path of the proxy's counts with this status.
func stats(t *testing.T, status int, text string) (env string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.URL.Path != "/v1/quota-stats" || r.Header.Get("Authorization") != "Bearer "+pasted {
			t.Errorf("the proxy was sent %s %s with %q", r.Method, r.URL, r.Header.Get("Authorization"))
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(text)))
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(s.Close)
	return "PROXY_BASE_URL=" + s.URL + "\nPROXY_API_KEY=" + pasted + "\n"
}

func TestTheUseIsReadFromTheProxy(t *testing.T) {
	const counted = `{"providers":{"acme":{"credentials":{"c":{"model_usage":{"m":{"totals":{"request_count":7}}}}}}}}`
	for name, c := range map[string]struct {
		env   string
		known bool
		want  string // in the error
	}{
		"counts":                 {stats(t, 200, counted), true, ""},
		"no such path":           {stats(t, 404, `{"detail":"Not Found"}`), false, ""},
		"another method":         {stats(t, 405, ``), false, ""},
		"refused":                {stats(t, 401, `{"detail":"the key sk-secret-1 of anna is wrong"}`), false, "responded to quota-stats with status 401"},
		"foreign":                {stats(t, 200, `<html>sk-secret-1</html>`), false, "invalid JSON"},
		"too long":               {stats(t, 200, strings.Repeat(" ", usage.MaxStats+1)), false, "sent more than 32 MiB"},
		"nothing runs":           {"PROXY_BASE_URL=http://127.0.0.1:1\n", false, ""},
		"no proxy":               {"", false, ""},
		"on another machine":     {"PROXY_BASE_URL=https://proxy.example/v1\n", false, ""},
		"a key that must not go": {strings.Replace(stats(t, 200, counted), "KEY="+pasted, "KEY=${OWN_KEY}", 1), false, ""},
	} {
		o := Options{Settings: &config.Settings{}, EnvFile: filepath.Join(t.TempDir(), ".env"), Environ: []string{"OWN_KEY=" + pasted}}
		if err := os.WriteFile(o.EnvFile, []byte(c.env), 0o600); err != nil {
			t.Fatal(err)
		}
		_, ask, err := Lists(o, "")
		if err != nil {
			t.Fatal(err)
		}
		if remote := strings.Contains(c.env, ".example"); remote && ask != nil {
			t.Errorf("%s: it would be asked", name)
		}
		r, err := usage.Open(t.TempDir(), ask).Report("acme")
		if use, known := r.ForModel("m"); known != c.known || known && use.Requests != 7 {
			t.Errorf("%s: %+v, known is %v", name, use, known)
		}
		if text := textOf(err); !strings.Contains(text, c.want) || (text == "") != (c.want == "") || strings.Contains(text, "secret") || strings.Contains(text, "anna") {
			t.Errorf("%s: %q, want %q", name, text, c.want)
		}
	}
}

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
