package transfer

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/checkpoint/privatefile"
)

// Format is an export format.
type Format string

// The formats.
const (
	JSON     Format = "json" // lossless; the only format that can be imported
	Markdown Format = "md"
	Text     Format = "txt"
	HTML     Format = "html" // a self-contained page
)

// loadAtOnce is the maximum number of pairs that are loaded at a time.
const loadAtOnce = 500

// ExportOptions configures Export and ExportFile. The zero value is ready to use.
type ExportOptions struct {
	Seqs      []int64               // the pairs to export; nil means all uncut pairs
	Progress  func(done, total int) // called after every few hundred pairs; may be nil
	Overwrite bool                  // ExportFile replaces an existing file instead of returning an fs.ErrExist
}

// Source is the part of a store from which Export reads.
type Source interface {
	assistant.Store
	assistant.PictureStore
	Sessions(ctx context.Context) ([]history.Session, error)
	Redact(text string) string // removes secrets from what is written
}

// Export writes pairs, in order, to w. An export of all pairs in JSON also contains the titles of sessions and the
// points at which sessions branch from others. All formats can safely be printed to a terminal: control characters and
// invisible characters are escaped in JSON and removed in the other formats.
func Export(ctx context.Context, s Source, w io.Writer, f Format, o ExportOptions) error {
	formatter, err := newFormatter(f)
	if err != nil {
		return err
	}
	seqs := o.Seqs
	var sessions []exportedSession
	if seqs == nil {
		refs, err := s.Refs(ctx, "", 1) // the costs are not used
		if err != nil {
			return err
		}
		for _, r := range refs {
			seqs = append(seqs, r.Seq)
		}
		if sessions, err = exportedSessions(ctx, s); err != nil {
			return err
		}
	}
	out := bufio.NewWriter(w)
	write := func(part string, data any) {
		var text strings.Builder
		if partErr := formatter.ExecuteTemplate(&text, part, data); err == nil {
			err = partErr
		}
		_, _ = out.WriteString(s.Redact(text.String())) // Flush returns the first error
	}
	write("begin", exportMeta{exportName, versionWith(sessions), len(seqs)})
	done := 0
	for piece := range slices.Chunk(seqs, loadAtOnce) {
		pairs, err := s.Load(ctx, piece)
		if err != nil {
			return err
		}
		for i := range pairs {
			if p := &pairs[i]; f == JSON {
				err = errors.Join(err, loadPictures(ctx, s, p))
			}
			write("pair", &pairs[i])
			pairs[i].Attachments = nil // free the pictures
		}
		done += len(piece)
		if o.Progress != nil {
			o.Progress(done, len(seqs))
		}
	}
	write("end", sessions)
	return errors.Join(err, out.Flush())
}

// ExportFile exports to a file that only its owner can read. When it returns nil, the file is complete and durable. If it
// fails, there is no file or, with Overwrite, the previous one; if the process is killed, a new file may be empty.
func ExportFile(ctx context.Context, s Source, path string, f Format, o ExportOptions) (err error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a folder; specify a file in it", path)
	}
	if !o.Overwrite { // an empty file reserves the name
		placeholder, openErr := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, privatefile.FileMode)
		if openErr != nil {
			return openErr
		}
		placeholder.Close()
		defer func() {
			if err != nil {
				os.Remove(path)
			}
		}()
	}
	return privatefile.Replace(path, privatefile.FileMode, func(w io.Writer) error { return Export(ctx, s, w, f, o) })
}
