package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"winnow/adapters/config"
)

// flags are those that every command takes, as they were given.
type flags struct {
	set *pflag.FlagSet

	model, provider, baseURL string
	envFile, config, home    string
	window                   string
	json, noColor, plain     bool
	logLevel                 string
	create                   bool   // makes the named .env file
	proceed                  bool   // --continue
	session, telemetry       string // of the program and ask
	telemetryMessages        bool
}

// bind declares them.
func (f *flags) bind(root *cobra.Command) {
	p := root.PersistentFlags()
	f.set = p
	p.StringVarP(&f.model, "model", "m", "", "model to talk to, PROVIDER/NAME")
	p.StringVar(&f.provider, "provider", "", "endpoint to talk to, by NAME")
	p.StringVar(&f.baseURL, "base-url", "", "address of an OpenAI-compatible endpoint, URL")
	p.StringVar(&f.window, "window", "", "what the assistant works on: model-filter, or the chat history")
	p.StringVar(&f.envFile, "env-file", "", "the proxy's .env FILE; ./.env without it")
	p.BoolVar(&f.create, "create", false, "make the file of --env-file when it does not exist")
	p.StringVar(&f.config, "config", "", "settings FILE")
	p.StringVar(&f.home, "home", "", "keep settings, history, state and cache under one DIR")
	p.BoolVar(&f.json, "json", false, "output for programs")
	p.BoolVar(&f.noColor, "no-color", false, "no colours")
	p.StringVar(&f.logLevel, "log-level", "", "how much is logged: error, warning, info, debug")
	p.BoolVar(&f.plain, "plain", false, "no alternate screen, lines only")
	f.bindSession(root)
}

// bindSession declares the flags that take up a session.
func (f *flags) bindSession(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.proceed, "continue", false, "take up the last session of this folder")
	cmd.Flags().StringVar(&f.session, "session", "", "take up the session with this ID, or its beginning")
	cmd.Flags().StringVar(&f.telemetry, "telemetry", "", "append a record of each request to FILE")
	cmd.Flags().BoolVar(&f.telemetryMessages, "telemetry-messages", false, "with the messages of the request in each record")
	exclusive(cmd, "continue", "session")
}

// settings are the flags that set what a setting does.
func (f *flags) settings() []config.Flag {
	var out []config.Flag
	add := func(name, key, value string) {
		if f.set.Changed(name) {
			out = append(out, config.Flag{Name: "--" + name, Key: key, Value: value})
		}
	}
	add("model", "model", f.model)
	add("window", "window", f.window)
	add("log-level", "log_level", f.logLevel)
	if f.plain {
		add("plain", "plain", "true")
	}
	return out
}

// flagNames are the flags that a command takes.
func flagNames(cmd *cobra.Command) []string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	cmd.InheritedFlags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}
