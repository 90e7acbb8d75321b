package dotenv

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// A change is reported once the file has been unchanged for watchDelay, because editors write in several steps. If a
// file is written continuously, a change is reported every watchMaxDelay.
const (
	watchDelay    = 50 * time.Millisecond
	watchMaxDelay = time.Second
)

// Watch reports changes to the file at path, also through symbolic links, until ctx ends; then it closes the channel.
// One signal may stand for several changes, and the bytes may be unchanged: compare [Source.Hash]. Watch watches
// folders, so the file need not exist.
func Watch(ctx context.Context, path string) (<-chan struct{}, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("dotenv: %w", err)
	}
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fileError(path, "cannot be watched", err)
	}
	names, err := watchLinks(w, path)
	if err != nil {
		_ = w.Close() // nothing is being watched yet
		return nil, err
	}
	changed := make(chan struct{}, 1)
	go func() {
		defer close(changed)
		defer func() { _ = w.Close() }() // an error is ignored, because the caller could not act on it
		var timer <-chan time.Time
		var firstEvent time.Time
		for {
			select {
			case <-ctx.Done():
				return
			case e := <-w.Events:
				if !names[e.Name] {
					continue
				}
			case <-w.Errors: //nolint:errcheck // events were lost, possibly of this file
			case <-timer:
				timer = nil
				if again, err := watchLinks(w, path); err == nil {
					names = again // the names are read again, because a link may have changed
				}
				select {
				case changed <- struct{}{}:
				default: // a signal is already pending
				}
				continue
			}
			if timer == nil {
				firstEvent = time.Now()
			}
			timer = time.After(min(watchDelay, max(0, watchMaxDelay-time.Since(firstEvent))))
		}
	}()
	return changed, nil
}

// watchLinks watches the folders of all paths that lead to the file, and returns these paths.
func watchLinks(w *fsnotify.Watcher, path string) (map[string]bool, error) {
	hops, err := links(path)
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, name := range hops {
		if err := w.Add(filepath.Dir(name)); err != nil {
			return nil, fileError(path, "cannot be watched", err)
		}
		names[name] = true
	}
	return names, nil
}
