package history

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Format is a form of export.
type Format string

// The forms of export.
const (
	JSON     Format = "json" // lossless; Import reads it
	Markdown Format = "md"
	Text     Format = "txt"
	HTML     Format = "html" // one page that needs nothing else
)

// ExportOptions configures Export. The zero value is ready to use.
type ExportOptions struct {
	Seqs     []int64               // which pairs; nil is all uncut ones
	Progress func(done, total int) // called now and then; nil is not called
}

// Export writes pairs, in order, to w. It holds no more than a few hundred
// pairs at a time. A terminal can show all forms as they are: JSON escapes what
// it would obey or hide, the others leave it out.
func Export(ctx context.Context, s Store, w io.Writer, f Format, o ExportOptions) error {
	form, err := formOf(f)
	if err != nil {
		return err
	}
	seqs := o.Seqs
	if seqs == nil {
		refs, err := s.Refs(ctx, "", defaultCharsPerToken)
		if err != nil {
			return err
		}
		for _, r := range refs {
			seqs = append(seqs, r.Seq)
		}
	}
	out := bufio.NewWriter(w)
	write := func(part string, data any) {
		var text strings.Builder
		if fault := form.ExecuteTemplate(&text, part, data); err == nil {
			err = fault
		}
		_, _ = out.WriteString(s.Redact(text.String())) // Flush reports the first failure
	}
	write("begin", len(seqs))
	done := 0
	for piece := range slices.Chunk(seqs, loadAtOnce) {
		pairs, err := s.Load(ctx, piece)
		if err != nil {
			return fmt.Errorf("history: export: %w", err)
		}
		for i := range pairs {
			write("pair", &pairs[i])
		}
		done += len(piece)
		if o.Progress != nil {
			o.Progress(done, len(seqs))
		}
	}
	write("end", nil)
	if err := errors.Join(err, out.Flush()); err != nil {
		return fmt.Errorf("history: export: %w", err)
	}
	return nil
}

// ExportFile is Export into a file that its owner alone can read. It is written
// beside path first, so that it is there whole and durable or not at all. One that
// is there is an fs.ErrExist without force.
func ExportFile(ctx context.Context, s Store, path string, force bool, f Format, o ExportOptions) (err error) {
	if there, err := os.Stat(path); err == nil && there.IsDir() {
		return fmt.Errorf("%s is a folder; name a file in it", path)
	}
	defer func() { // an error names the file that was asked for
		var failed *fs.PathError
		if errors.As(err, &failed) {
			failed.Path = path
		}
	}()
	if !force { // an empty file reserves the name
		reserved, taken := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
		if taken != nil {
			return taken
		}
		reserved.Close()
		defer func() {
			if err != nil {
				os.Remove(path)
			}
		}()
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".winnow-export-*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) // after the rename it is gone
	if err = Export(ctx, s, file, f, o); err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err = os.Rename(file.Name(), path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}
