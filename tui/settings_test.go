package tui

import (
	"errors"
	"strings"
	"testing"

	"winnow/tui/tuitest"
)

// settingsOf opens the settings with one of them searched for.
func (d *fixture) setting(search string) {
	d.t.Helper()
	d.Type(tuitest.CtrlP, "Settings", tuitest.Enter)
	d.Wait("━ Settings ━")
	d.Type(search)
	d.Wait("/ " + search)
}

func TestSettingsSayWhatTheyAreAndWhatWasDone(t *testing.T) {
	d := startProgram(t, setup{w: 80, h: 30})
	d.Type(tuitest.CtrlP, "Settings", tuitest.Enter)
	d.Wait("enter takes the next value")
	for _, text := range []string{"Background", "Colour theme", "The assistant asks before", "it saves"} {
		d.Wait(text)
	}
	if strings.Contains(d.Frame(), "in the config") || strings.Contains(d.Frame(), storeKey) {
		t.Errorf("it offers what there is not:\n%s", d.Frame())
	}
	d.Type("Colour theme", tuitest.Enter)
	d.Wait("Colour theme: ")
	d.Type(tuitest.Esc)
	d.WaitGone("━ Settings ━")
	d.says("Colour theme: ")
}

func TestSettingIsKept(t *testing.T) {
	var kept []string
	var fault error
	d := startProgram(t, setup{w: 100, h: 30, change: func(o *Options) {
		o.KeepSetting = func(key, value string) error { kept = append(kept, key+"="+value); return fault }
	}})
	d.setting("ends unseen")
	d.Type(tuitest.Enter)
	d.Wait("Notify when a long turn ends unseen: yes")
	d.Type(tuitest.Key(storeKey))
	d.Wait("notify = true is stored")
	d.Type(tuitest.Esc)
	d.says("notify = true is stored")
	if len(kept) != 1 || kept[0] != "notify=true" {
		t.Errorf("kept %q", kept)
	}
	d.setting("background")
	d.Type(tuitest.Enter)
	d.Wait("Background: light")
	d.Type(tuitest.Down, tuitest.Enter) // the theme after the usual one is the first
	d.Wait("Colour theme: dusk")
	d.Type(tuitest.Key(storeKey))
	d.Wait("theme = dusk-light is stored")
	d.Type(tuitest.Esc)
	fault = errors.New("config.toml:3: mous is not a setting")
	d.setting("mouse")
	d.Type(tuitest.Key(storeKey))
	d.Wait("mous is not a setting")
}
