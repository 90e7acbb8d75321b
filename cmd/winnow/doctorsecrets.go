package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"winnow/assistant"
)

// examineSecrets reads winnow's own files and looks for every key that is known:
// those of the environment, of the .env file and of the settings. The settings
// file may hold keys that the user wrote into it and is left out.
func (a *app) examineSecrets(ctx context.Context) []finding {
	h, err := a.folders()
	if err != nil {
		return []finding{{"secrets", broken, err.Error(), ""}}
	}
	a.learnSecrets(ctx)
	files := 0
	var found []finding
	for _, dir := range []string{h.data, h.state, h.cache} {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil || !e.Type().IsRegular() {
				return err
			}
			files++
			holds, err := a.holdsSecret(ctx, path)
			if holds {
				found = append(found, finding{"secrets", broken, path + " holds a key", "replace the key at its provider, then remove the file"})
			}
			return err
		})
		if err != nil {
			found = append(found, finding{"secrets", broken, err.Error(), "check owner and mode"})
		}
	}
	if len(found) == 0 {
		found = []finding{{About: "secrets", State: fine, Detail: "no known key in " + assistant.Counted(files, "file")}}
	}
	return found
}

// learnSecrets makes every key known to the redactor. One that cannot be read
// is reported by the examination of its endpoint.
func (a *app) learnSecrets(ctx context.Context) {
	set, err := a.openEndpoints(0)
	if err != nil {
		return
	}
	for _, e := range set.All {
		_, _ = e.APIKey(ctx)
	}
}

const (
	secretChunk   = 1 << 20 // bytes of a file that are searched at once
	secretOverlap = 4 << 10 // bytes that two chunks share: more than the longest form of a key
)

// holdsSecret says whether a file holds a known key in any form the redactor knows.
func (a *app) holdsSecret(ctx context.Context, path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	chunk := make([]byte, 0, secretChunk+secretOverlap)
	for ctx.Err() == nil {
		n, err := io.ReadFull(f, chunk[len(chunk):len(chunk)+secretChunk])
		chunk = chunk[:len(chunk)+n]
		if text := string(chunk); a.redactor.Redact(text) != text {
			return true, nil
		}
		if err != nil { // the last chunk was short
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				err = nil
			}
			return false, err
		}
		chunk = append(chunk[:0], chunk[len(chunk)-secretOverlap:]...)
	}
	return false, ctx.Err()
}
