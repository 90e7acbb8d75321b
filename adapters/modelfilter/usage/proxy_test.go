package usage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const answer = `{"providers":{"acme":{"credential_count":2,"credentials":{
  "file-anna.json":{"accessor_masked":"sk-secret-…0001","full_path":"/home/anna/oauth.json","email":"anna@secret.example",
    "totals":{"request_count":9,"last_used_at":"2026-11-18T09:06:40"},
    "model_usage":{"acme/m":{"windows":{"5h":{"request_count":1,"limit":null}},"totals":{"request_count":3,"total_tokens":70,"approx_cost":0.5,"first_used_at":1790000000.0,"last_used_at":1795000000.5}}}},
  "sk-secret-name":{"model_usage":{"m":{"totals":{"request_count":4,"total_tokens":30,"approx_cost":null,"first_used_at":null,"last_used_at":1794000000}}}}}}},
 "summary":{"total_providers":1},"data_source":"cache","timestamp":1795000001.2}`

// asking returns an Asker that answers text, and how often it was asked.
func asking(text string, err error) (Asker, *int) {
	n := new(int)
	return func(context.Context) ([]byte, error) { *n++; return []byte(text), err }, n
}

func TestTheProxyIsAskedWhereNoFileCanBeRead(t *testing.T) {
	ask, n := asking(answer, nil)
	d := Open(t.TempDir(), ask)
	r, err := d.Report("acme")
	want := Use{Requests: 7, Tokens: 100, Cost: 0.5, First: time.Unix(1790000000, 0).UTC(), Last: time.UnixMilli(1795000000500).UTC()}
	if got, known := r.ForModel("acme/m"); err != nil || !known || got != want {
		t.Errorf("%+v, %v, %v, want %+v", got, known, err, want)
	}
	if got, known := r.ForModel("acme/other"); !known || got.Requests != 0 {
		t.Errorf("a model that the proxy did not count: %+v, %v", got, known)
	}
	if r, err := d.Report("openai"); r != nil || err != nil {
		t.Errorf("a provider that the proxy leaves out: %v, %v, want unknown", r, err)
	}
	if *n != 1 {
		t.Errorf("%d requests for two providers, want 1", *n)
	}
}

func TestAFileWinsOverTheProxy(t *testing.T) {
	ask, n := asking(answer, nil)
	data := t.TempDir()
	path := store(t, data, `{"schema_version":2,"credentials":{"c":{"model_usage":{"m":{"totals":{"request_count":99}}}}}}`)
	d := Open(data, ask)
	if r, err := d.Report("acme"); err != nil || r.uses["m"].Requests != 99 || *n != 0 {
		t.Errorf("%+v, %v after %d requests", r, err, *n)
	}
	if err := os.WriteFile(path, []byte(`{"schema_version":3}`), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := d.Report("acme")
	if err == nil || r == nil || r.uses["m"].Requests != 7 || !strings.Contains(err.Error(), "schema version 3") || !strings.Contains(err.Error(), "was read from the running proxy") {
		t.Errorf("a broken file: %+v, %v, want the proxy's counts and the reason", r, err)
	}
}

func TestAForeignAnswerIsAnError(t *testing.T) {
	const key = "sk-secret-0000000000000000"
	for name, c := range map[string]struct{ text, want string }{
		"HTML":             {"<!doctype html>" + key, "invalid JSON at byte"},
		"cut off":          {answer[:len(answer)/2], "invalid JSON at byte"},
		"another format":   {`{"object":"list","data":["` + key + `"]}`, "lists no providers"},
		"a list":           {`["` + key + `"]`, "array instead of object"},
		"older format":     {`{"providers":{"acme":{"credentials":[{"identifier":"` + key + `"}]}}}`, "array instead of object"},
		"strings as count": {`{"providers":{"acme":{"credentials":{"` + key + `":{"model_usage":{"m":{"totals":{"request_count":"` + key + `"}}}}}}}}`, "string instead of number"},
	} {
		ask, _ := asking(c.text, nil)
		r, err := Open(t.TempDir(), ask).Report("acme")
		if r != nil || err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "is unknown") {
			t.Errorf("%s: %v, %v, want an error with %q", name, r, err, c.want)
		} else if strings.Contains(err.Error(), key) {
			t.Errorf("%s: the error shows a key: %v", name, err)
		}
	}
	ask, _ := asking("", errors.New("status 401"))
	if r, err := Open(t.TempDir(), ask).Report("acme"); r != nil || err == nil || !strings.Contains(err.Error(), "status 401") {
		t.Errorf("a refusal: %v, %v", r, err)
	}
	if r, err := Open(t.TempDir(), func(context.Context) ([]byte, error) { return nil, nil }).Report("acme"); r != nil || err != nil {
		t.Errorf("no proxy: %v, %v, want neither", r, err)
	}
}

// TestAProxyThatHangsIsWaitedForASecond once, not for each provider, and is asked again later.
func TestAProxyThatHangsIsWaitedForASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		d := Open(t.TempDir(), func(ctx context.Context) ([]byte, error) {
			if asked++; asked > 1 {
				return []byte(answer), nil
			}
			<-ctx.Done()
			return nil, ctx.Err()
		})
		start := time.Now()
		for _, provider := range []string{"acme", "openai", "acme"} {
			if r, err := d.Report(provider); r != nil || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%v, %v", r, err)
			}
		}
		if took := time.Since(start); took != time.Second || asked != 1 {
			t.Errorf("%v for %d requests, want 1s for one", took, asked)
		}
		time.Sleep(answerLife + 1)
		if _, err := d.Report("acme"); err == nil || asked != 1 {
			t.Errorf("soon after: %v, %d requests", err, asked)
		}
		time.Sleep(failureLife)
		if r, err := d.Report("acme"); err != nil || r == nil || asked != 2 {
			t.Errorf("later: %v, %v after %d requests", r, err, asked)
		}
	})
}

func TestNothingOfACredentialIsKeptOfAnAnswer(t *testing.T) {
	ask, _ := asking(answer, nil)
	d := Open(t.TempDir(), ask)
	if r, err := d.Report("acme"); r == nil || err != nil {
		t.Fatal(r, err)
	}
	kept := ""
	for provider, r := range d.proxy.reports {
		kept += provider + fmt.Sprintf("%#v", *r)
	}
	if len(kept) < 100 || strings.Contains(kept, "secret") || strings.Contains(kept, "anna") {
		t.Errorf("kept: %s", kept)
	}
}

func FuzzReadStats(f *testing.F) {
	f.Add(answer)
	f.Add(`{"providers":{"a":null,"b":{"credentials":null},"c":{"credentials":{"x":{"model_usage":{"m":{"totals":{"request_count":1e300,"last_used_at":-1}}}}}}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		reports, err := readStats([]byte(text))
		if (reports == nil) == (err == nil) {
			t.Fatalf("%v, %v", reports, err)
		}
		for _, r := range reports {
			for name, u := range r.uses {
				if u.Requests < 0 || u.Tokens < 0 || u.Last.Year() > 9999 {
					t.Fatalf("%q: %+v", name, u)
				}
			}
		}
	})
}
