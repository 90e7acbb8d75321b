package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
	"github.com/muesli/cancelreader"
)

// Keyboard is what a terminal reports about its keyboard protocol.
type Keyboard int

// The keyboards.
const (
	SilentKeyboard Keyboard = iota // the terminal does not answer queries
	PlainKeyboard                  // the terminal does not support the kitty protocol
	KittyKeyboard
)

var keyboards = map[Keyboard]string{
	SilentKeyboard: "no answer from the terminal: ctrl+enter may arrive as enter",
	PlainKeyboard:  "no kitty protocol: ctrl+enter may arrive as enter",
	KittyKeyboard:  "kitty protocol: ctrl+enter and enter are different keys",
}

// Sentence describes what a keyboard means for sending messages. send names the send key, depending on whether
// ctrl+enter is known to arrive.
func (k Keyboard) Sentence(send func(ctrlEnter bool) string) string {
	return fmt.Sprintf("%s; %s sends here", keyboards[k], send(k == KittyKeyboard))
}

var (
	kittyAnswer = regexp.MustCompile(`\x1b\[\?\d+u`)
	// Every terminal answers the second query, for its primary device attributes, so a missing answer to the first is
	// noticed without a timeout.
	attributesAnswer = regexp.MustCompile(`\x1b\[\?[\d;]*c`)
)

// AskKeyboard queries the terminal behind in and out for its keyboard protocol. It waits up to limit for the answers;
// ctrl+c ends it with context.Canceled. Input typed in the meantime is lost. Afterwards the terminal mode is
// restored.
func AskKeyboard(ctx context.Context, in, out *os.File, limit time.Duration) (k Keyboard, err error) {
	state, err := term.MakeRaw(in.Fd())
	if err != nil {
		return SilentKeyboard, err
	}
	defer func() { err = errors.Join(err, term.Restore(in.Fd(), state)) }()
	r, err := cancelreader.NewReader(in)
	if err != nil {
		return SilentKeyboard, err
	}
	if _, err := out.WriteString(ansi.RequestKittyKeyboard + ansi.RequestPrimaryDeviceAttributes); err != nil {
		return SilentKeyboard, errors.Join(err, r.Close())
	}
	inTime, cancel := context.WithTimeout(ctx, limit)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		<-inTime.Done()
		r.Cancel()
	}()
	k, err = readKeyboard(r)
	cancel()
	<-stopped // from here on, r is not cancelled
	if errors.Is(err, cancelreader.ErrCanceled) {
		err = ctx.Err()
	}
	return k, errors.Join(err, r.Close())
}

// readKeyboard reads a terminal's answers to the queries.
func readKeyboard(r cancelreader.CancelReader) (k Keyboard, err error) {
	const ctrlC = 3
	var answers []byte
	buffer := make([]byte, 256)
	for n := 0; err == nil; {
		n, err = r.Read(buffer)
		answers = append(answers, buffer[:n]...)
		switch {
		case kittyAnswer.Match(answers):
			k = KittyKeyboard
		case attributesAnswer.Match(answers):
			k = PlainKeyboard
		case bytes.IndexByte(answers, ctrlC) >= 0:
			return k, context.Canceled
		}
		if attributesAnswer.Match(answers) {
			return k, nil
		}
	}
	return k, err
}
