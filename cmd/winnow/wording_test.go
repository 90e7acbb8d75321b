package main

import (
	"go/scanner"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"winnow/adapters/config"
	"winnow/cmd/winnow/topics"
)

// replaced are sentences of earlier builds, in lower case, that have been replaced by shorter or clearer ones.
var replaced = []string{
	"what shall be done", "the keys that answer stand in", "match no model that an allow rule does not keep",
	"winnow did not end well", "take theirs over", "do my changes to it again", "makes needless", "what the footer said",
	"accepts %d arg", "1 stars", "y do it", "enter touches", "f1 helps",
	"somebody else", "someone else", "nobody", " anew", "beside it", "tells from", " any more", "as it is in", "stands there",
	"the way out", "which then", "whoever", "all the same", "of its own", "of their own", "has to be confirmed", "connects it anew", " mend ",
	"wants a key", "refuses this key", "enter asks it", "that contain it", "leaves the view", "favourite or not", "as applies",
	"could not do it", "the window is locked\"", "no allow rules", "would be shown now", "decides none", "decides nothing",
	"holds a lock", "is no report", "has the window", "is for another terminal", "tells of", "was changed by somebody", "built-in rules answer now",
}

// TestReplacedSentencesAreGone searches for them in everything that users and models read: the string literals of the
// program, its embedded texts, the news and the README.
func TestReplacedSentencesAreGone(t *testing.T) {
	files := 0
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, d fs.DirEntry, err error) error {
		name := d.Name()
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == "testdata" || name == "bin" || strings.HasSuffix(name, "test") || strings.HasPrefix(name, ".") && name != ".."):
			return filepath.SkipDir
		case strings.HasSuffix(name, "_test.go") || !strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, ".md") && name != "news.txt":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		if strings.HasSuffix(name, ".go") {
			text = literals(text)
		}
		for _, old := range replaced {
			if strings.Contains(strings.ToLower(string(text)), old) {
				t.Errorf("%s says %q", path, old)
			}
		}
		return nil
	})
	if err != nil || files < 100 {
		t.Fatalf("%d files, %v", files, err)
	}
}

// TestHelpNamesEveryVariable compares the environment variables that the program reads with those on the help pages.
func TestHelpNamesEveryVariable(t *testing.T) {
	pages := helpText(t)
	variable := regexp.MustCompile(`\b(?:(?:WINNOW|OPENAI)_[A-Z_]+|PROXY_(?:API_KEY|BASE_URL)|NO_COLOR|VISUAL|EDITOR)\b`)
	read := map[string]bool{}
	for _, s := range config.All(nil) {
		read[s.Env()] = true
	}
	for _, room := range []string{".", filepath.Join("..", "..", "adapters"), filepath.Join("..", "..", "tui")} {
		err := filepath.WalkDir(room, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (d.Name() == "testdata" || d.Name() == "topics" || d.Name() == "tuitest"):
				return filepath.SkipDir
			case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
				return nil
			}
			text, err := os.ReadFile(path)
			for line := range strings.Lines(string(literals(text))) {
				if name := strings.Trim(line, "\"`\n"); variable.FindString(name) == name && name != "" {
					read[name] = true
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	named := map[string]bool{}
	for _, name := range variable.FindAllString(pages, -1) {
		named[name] = true
		if !read[name] {
			t.Errorf("the help names %s, which the program does not read", name)
		}
	}
	for name := range read {
		if !named[name] {
			t.Errorf("no help page names %s", name)
		}
	}
	if len(read) < 40 {
		t.Errorf("%d variables", len(read))
	}
}

// helpText returns all help pages as one text.
func helpText(t *testing.T) string {
	t.Helper()
	t.Setenv("WINNOW_HOME", t.TempDir())
	a := newApp(t.Context(), nil, io.Discard, io.Discard)
	facts := a.facts(newRoot(a))
	var all []string
	for _, topic := range topics.All() {
		all = append(all, topic.Lines(facts)...)
	}
	return strings.Join(all, "\n")
}

// TestTextsNameFlagsThatExist checks the flags in the help pages, the README and the help of all commands.
func TestTextsNameFlagsThatExist(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	all, known := helpText(t)+string(readme), map[string]bool{
		"base": true, "dry-run": true, "no-confirm": true, // of the filter language
		"help": true, "prefix": true, // of cobra, and of brew in the help of completion
	}
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		all += "\n" + c.Short + "\n" + c.Long + "\n" + c.Example
		for _, flags := range []*pflag.FlagSet{c.PersistentFlags(), c.Flags()} {
			flags.VisitAll(func(f *pflag.Flag) {
				known[f.Name] = true
				all += "\n" + f.Usage
			})
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRoot(newApp(t.Context(), nil, io.Discard, io.Discard)))
	for _, found := range regexp.MustCompile(`(?:^|[\s`+"`"+`(\[])--([a-z][a-z-]*)`).FindAllStringSubmatch(all, -1) {
		if !known[found[1]] {
			t.Errorf("a text names --%s, which does not exist", found[1])
		}
	}
}

// literals returns the string literals of a Go file, one per line.
func literals(source []byte) []byte {
	var s scanner.Scanner
	files := token.NewFileSet()
	s.Init(files.AddFile("", files.Base(), len(source)), source, nil, 0)
	var all []byte
	for {
		switch _, tok, text := s.Scan(); tok {
		case token.EOF:
			return all
		case token.STRING:
			all = append(append(all, text...), '\n')
		default:
		}
	}
}

// TestUsersReadMessage searches the sentences of the screen, of line mode and of the help for the word pair, which is
// the word of the code, of the tools' parameters and of the HTTP interface: users read message.
func TestUsersReadMessage(t *testing.T) {
	word := regexp.MustCompile(`(?i)(^|[^\w{:/'-])pairs?($|[^\w}':-])`)
	files := 0
	for _, root := range []string{filepath.Join("..", "..", "tui"), filepath.Join("topics"), filepath.Join("..", "..", "README.md")} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			name := d.Name()
			switch {
			case err != nil:
				return err
			case d.IsDir() && (name == "testdata" || name == "tuitest"):
				return filepath.SkipDir
			case d.IsDir() || strings.HasSuffix(name, "_test.go") || name == "http.go":
				return nil
			}
			text, err := os.ReadFile(path)
			if strings.HasSuffix(name, ".go") {
				text = literals(text)
			}
			files++
			for line := range strings.Lines(string(text)) {
				if strings.Contains(line, " ") && word.MatchString(line) {
					t.Errorf("%s: %s", path, line)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if files < 100 {
		t.Errorf("%d files", files)
	}
}
