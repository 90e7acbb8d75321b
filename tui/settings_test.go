package tui

import (
	"errors"
	"strings"
	"testing"
	"time"

	at "winnow/assistant/assistanttest"
	"winnow/tui/tuitest"
)

// setting opens the settings with one of them searched for.
func (d *fixture) setting(search string) {
	d.t.Helper()
	d.Type(tuitest.CtrlP, "Settings", tuitest.Enter)
	d.Wait("─ Settings ─")
	d.Type(search)
	d.Wait("/ " + search)
}

func TestSettingsSayWhatTheyAreAndWhatWasDone(t *testing.T) {
	d := startProgram(t, setup{w: 80, h: 30})
	d.Type(tuitest.CtrlP, "Settings", tuitest.Enter)
	d.Wait("enter ← → changes it")
	d.Wait("changes last until you quit")
	for _, text := range []string{"Background", "Colour theme", "Ask before", "saving"} {
		d.Wait(text)
	}
	if strings.Contains(d.Frame(), "in the config") || strings.Contains(d.Frame(), "alt+s") {
		t.Errorf("it offers what there is not:\n%s", d.Frame())
	}
	d.Type("Colour theme", tuitest.Enter)
	d.Wait("Colour theme: ")
	d.Type(tuitest.Esc)
	d.WaitGone("─ Settings ─")
	d.says("Colour theme: ")
}

func TestSettingIsKept(t *testing.T) {
	kept := make(chan string, 8)
	faults := make(chan error, 8)
	d := startProgram(t, setup{w: 100, h: 30, change: func(o *Options) {
		o.StoreSetting = func(key, value string) error {
			kept <- key + "=" + value
			return <-faults
		}
	}})
	d.setting("long turn")
	d.Type(tuitest.Enter)
	d.Wait("Notify after a long turn: yes")
	d.Type(tuitest.Esc)
	faults <- nil
	stores(t, kept, "notify=true")
	d.setting("background")
	d.Type(tuitest.Enter)
	d.Wait("Background: light")
	d.Type(tuitest.Down, tuitest.Enter) // the theme after the usual one is the first
	d.Wait("Colour theme: dusk")
	d.Type(tuitest.Esc)
	faults <- nil
	faults <- nil
	stores(t, kept, "theme=light", "theme=dusk-light")
	faults <- errors.New("config.toml:3: mous is not a setting")
	d.setting("mouse")
	d.Type(tuitest.Enter)
	d.Wait("mous is not a setting")
}

// stores waits until these settings are stored, in this order.
func stores(t *testing.T, kept <-chan string, want ...string) {
	t.Helper()
	for _, w := range want {
		if got := <-kept; got != w {
			t.Errorf("stored %q, want %q", got, w)
		}
	}
}

func TestEnterCanBeChanged(t *testing.T) {
	kept := make(chan string, 8)
	d := startProgram(t, setup{w: 120, h: 30, answers: []at.Answer{say("answered")}, change: func(o *Options) {
		o.StoreSetting = func(key, value string) error { kept <- key + "=" + value; return nil }
	}})
	d.Type("one line", tuitest.Enter)
	d.setting("Enter")
	d.Wait("starts a new line")
	d.Type(tuitest.Enter)
	d.Wait("Enter: sends the message")
	d.Type(tuitest.Esc)
	stores(t, kept, "send_key=enter")
	d.Wait("enter send")
	d.Type(tuitest.Enter)
	d.Wait("answered")
}

// Who presses enter after one line may have meant to send: the footer says once what sends.
func TestEnterIsExplainedOnce(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, s *seeing) {
		t.Helper()
		const explained = "enter starts a new line"
		s.keys("one line", "enter")
		time.Sleep(time.Second)
		if strings.Contains(s.text(), explained) {
			t.Error("it is explained to who is still typing")
		}
		s.keys("x", "enter")
		time.Sleep(time.Minute)
		s.rest()
		if strings.Contains(s.text(), explained) {
			t.Errorf("a draft of two lines is explained:\n%s", s.text())
		}
		s.keys("esc", "one line", "enter")
		time.Sleep(time.Minute)
		s.rest()
		if !strings.Contains(s.text(), explained+" · ctrl+j sends · ctrl+p, “Settings”, swaps them") {
			t.Errorf("it is not explained:\n%s", s.text())
		}
		s.keys("esc", "another line", "enter")
		time.Sleep(time.Minute)
		s.rest()
		if strings.Contains(s.text(), explained) {
			t.Error("it is explained again")
		}
	})
}
