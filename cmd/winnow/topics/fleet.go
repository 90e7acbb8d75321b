package topics

// fleetExample adds two other proxies to the settings.
var fleetExample = []string{
	`[[target]]`,
	`name = "staging"`,
	`env_file = "/srv/staging/.env"`,
	`[[target]]`,
	`name = "production"`,
	`url = "https://proxy.example:7777"`,
	`token = "env:PRODUCTION_TOKEN"`,
}

func fleet(p *page, _ Facts) {
	p.text("A [[target]] in the settings names another proxy: by env_file, the absolute path of its .env on this machine, or by url, the address of a winnow serve on its machine. The .env of the current folder is also a target, named \"here\".")
	for _, line := range fleetExample {
		p.lines = append(p.lines, "    "+line)
	}
	p.text("The token needs the role save; for comparing, read is enough. token is env:NAME, cmd:COMMAND or keyring:NAME; token_file is a file that only you can read. allow_http = true allows an unencrypted connection to another machine.")
	p.head("Comparing")
	p.text("winnow rules diff --target staging --target production lists the saved rules that only one of the two has, and the models that only one of them shows; a single --target is compared with this folder. The All tab of the pane counts both kinds of difference for every target; ctrl+r in that tab asks the targets again.")
	p.head("Applying")
	p.text("winnow rules apply --from staging --to production,here stages the rules on every target, shows each plan with its effects, asks once, and saves each plan by its digest. --yes saves without asking; without a terminal and without --yes, nothing is saved, the staged changes are discarded, and the exit status is 3.")
	p.text("A target that cannot be reached, has unsaved changes, or has changed since its plan was shown is left unchanged; the others are saved. The result says which changes stay staged on which target, and the exit status is 1. A provider that only the source or only the target has is left unchanged too. The setting after_save is used only for the .env of the current folder.")
}
