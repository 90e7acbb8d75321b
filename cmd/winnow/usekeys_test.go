package main

import (
	"bytes"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/assistant/assistanttest"
)

// The files of use, and the proxy's answer, contain keys and names of credentials. Nothing that winnow prints or
// stores contains them: no output, log, history, export or list.
func TestNothingOfACredentialIsPrintedOrStored(t *testing.T) {
	secrets := []string{"sk-sample", "stable-openai", "stable-gemini", "oauth-of-anna", "anna@", "/home/anna"}
	const stats = `{"providers":{"gemini":{"credentials":{"oauth-of-anna":{"full_path":"/home/anna/key.json","email":"anna@firm.example","accessor_masked":"sk-sample-gemini",` +
		`"model_usage":{"gemini/gemini-2.5-pro":{"totals":{"request_count":41,"first_used_at":1000000000,"last_used_at":9000000000}}}}}}}}`
	for name, c := range map[string]struct{ openai, gemini, answer, want string }{
		"real":             {sampleUse(t, "openai"), sampleUse(t, "gemini"), stats, "324"},
		"from the proxy":   {sampleUse(t, "openai"), "", stats, "gemini-2.5-pro"},
		"broken":           {"{\"sk-sample", "{\"credentials\":[\"stable-gemini\"]}", stats[:len(stats)/2], "invalid JSON"},
		"an older version": {`{"schema_version":1,"key_states":{"sk-sample-1":{}}}`, "", `{"providers":{"gemini":{"credentials":[{"identifier":"sk-sample-gemini"}]}}}`, "schema version 1"},
		"refused":          {"", "", "", "status 403"},
	} {
		t.Run(name, func(t *testing.T) {
			answer := assistanttest.Respond(http.StatusOK, c.answer)
			if c.answer == "" {
				answer = assistanttest.Respond(http.StatusForbidden, `{"error":{"message":"the key sk-sample-1 of anna@firm.example is wrong"}}`)
			}
			proxy := assistanttest.NewServer(t).Models(assistanttest.ModelList("openai/gpt-5")).Route("/quota-stats", answer)
			dir := t.TempDir()
			t.Chdir(dir)
			t.Setenv("WINNOW_HOME", filepath.Join(dir, "home"))
			t.Setenv("WINNOW_LOCAL_SERVERS", "false")
			t.Setenv("WINNOW_LOG_LEVEL", "debug")
			for path, text := range map[string]string{
				".env":                    "OPENAI_API_KEY=sk-0123456789abcdef\nGEMINI_API_KEY=sk-abcdef0123456789\nPROXY_API_KEY=sk-proxy-0123456789\nPROXY_BASE_URL=" + proxy.URL + "\n",
				"usage/usage_openai.json": c.openai, "usage/usage_gemini.json": c.gemini,
			} {
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if text != "" {
					if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
			var said bytes.Buffer
			for _, line := range []string{
				"models --where requests>0", "models --where requests>0 --json", "models --json", "rules plan --add gpt-5* --provider openai", "rules add gpt-5* --provider openai", "rules lint --json",
				"doctor --json", "rules check --where used:7d", "-m offline/rules ask|which models are used most?", "-m offline/rules ask|would this break anyone?", "rules save", "rules log", "history export out.json", "log",
			} {
				args, asked, _ := strings.Cut(line, "|")
				run(t.Context(), append(strings.Fields(args), messageArg(asked)...), nil, &said, &said)
			}
			if !strings.Contains(said.String(), c.want) {
				t.Errorf("said %q is not in\n%s", c.want, said.String())
			}
			texts := map[string]string{"what it prints": said.String()}
			if err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() || strings.Contains(path, "usage_") {
					return err
				}
				text, err := os.ReadFile(path)
				texts[path] = string(text)
				return err
			}); err != nil {
				t.Fatal(err)
			}
			for where, text := range texts {
				for _, secret := range secrets {
					if at := strings.Index(text, secret); at >= 0 {
						t.Errorf("%s contains %q: …%s…", where, secret, text[max(0, at-60):min(len(text), at+60)])
					}
				}
			}
			if len(texts) < 4 {
				t.Errorf("only %d texts", len(texts))
			}
		})
	}
}

// messageArg is a message as an argument; none if it is empty.
func messageArg(message string) []string {
	if message == "" {
		return nil
	}
	return []string{message}
}

// sampleUse is a sample of the proxy's usage files.
func sampleUse(t *testing.T, provider string) string {
	t.Helper()
	text, err := os.ReadFile("../../adapters/modelfilter/usage/testdata/usage_" + provider + ".json")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
