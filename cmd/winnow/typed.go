package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"winnow/assistant/history"
	"winnow/assistant/workspace"
	"winnow/tui"
)

// typedName is the file in the state folder for what was typed in a run that
// ended before its history was open: a typedLine on each line.
const typedName = "typed.ndjson"

// typedLine is what was typed in a run, and where that was.
type typedLine struct {
	Folder string
	history.Draft
}

// keepTyped writes what was typed where the next start finds it.
func (a *app) keepTyped(d history.Draft) error {
	if d.Text == "" && len(d.Stash) == 0 {
		return nil
	}
	place, err := a.folders()
	if err != nil {
		return err
	}
	line, err := json.Marshal(typedLine{a.folder(), d})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(place.state, privateMode); err != nil {
		return err
	}
	file, err := os.OpenFile(filepath.Join(place.state, typedName), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(append(line, '\n'))
	return errors.Join(err, file.Sync(), file.Close())
}

// takeTyped puts into the history what earlier runs could not, oldest first.
// The file goes once all of it is there.
func (a *app) takeTyped(ctx context.Context, store history.Store) error {
	place, err := a.folders()
	if err != nil {
		return err
	}
	path := filepath.Join(place.state, typedName)
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close() // it was only read
	for lines := bufio.NewReader(file); ; {
		line, end := lines.ReadBytes('\n')
		var d typedLine
		if json.Unmarshal(line, &d) == nil { // a line cut by a crash holds nothing that could be kept
			if err := tui.KeepTyped(ctx, workspace.New(workspace.Options{History: store, Folder: d.Folder}), d.Draft); err != nil {
				return err
			}
		}
		if end != nil {
			return os.Remove(path)
		}
	}
}
