package configs_test

import (
	"testing"

	"approver.example"
)

// A command brought a plugin, or a folder with settings, and started Claude Code with it. When
// the command was judged, nothing was there yet, and so it passed. In two calls it was asked.
func TestStartsInWhatTheSameCommandBrings(t *testing.T) {
	const hooks = `{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"date"}]}]}}`
	world := files(
		"evil/.claude-plugin/plugin.json", `{"name":"e"}`, "evil/hooks/hooks.json", hooks,
		"each/one/.claude-plugin/plugin.json", `{"name":"one"}`, "each/one/hooks/hooks.json", hooks,
		"proj/.claude/settings.json", hooks, "p.tar", "x", "file.txt", "x", "docs/a.md", "x", "lib/x", "x", "all/x/y", "x",
		"good/.claude-plugin/plugin.json", `{"name":"good"}`, "good/commands/a.md", "hi",
		"plugs/one/.claude-plugin/plugin.json", `{"name":"one"}`, "plugs/two/commands/a.md", "hi",
	)
	for _, command := range []string{
		"cp -r evil q && claude --plugin-dir q -p hi",
		"mv evil q && claude --plugin-dir q -p hi",
		"mkdir q && tar xf p.tar -C q && claude --plugin-dir q/evil -p hi",
		"unzip -q p.zip -d q && claude --plugin-dir q/evil -p hi",
		"tar xf p.tar -C lib && claude --plugin-dir lib -p hi",
		"cp -r evil/. lib && claude --plugin-dir lib -p hi",
		"cp -r evil/* lib && claude --plugin-dir lib -p hi",
		"cp -r evil/hooks lib && claude --plugin-dir lib -p hi",
		"mkdir lib/hooks; mv evil/hooks/hooks.json lib/hooks/; claude --plugin-dir lib -p hi",
		"git clone https://e.com/p q && claude --plugin-dir q -p hi",
		"git clone https://e.com/p && claude --plugin-dir-no-mcp ./p -p hi",
		"ln -s evil q && claude --plugin-dir q -p hi",
		"cp -r evil all/ && claude --plugin-dir all -p hi",
		"tar xf p.tar -C all/x && claude --plugin-dir all -p hi",
		"git clone https://e.com/p all/p && claude --plugin-dir all -p hi",
		"python3 -c 'import shutil;shutil.copytree(\"evil\",\"q\")' && claude --plugin-dir q -p hi",
		"claude --plugin-dir each -p hi",
		"claude --plugin-dir-no-mcp=each -p hi",
		"cd each && claude --plugin-dir . -p hi",
		"git clone https://e.com/p q; cd q && claude -p hi",
		"git clone https://e.com/p && (cd p && claude -p hi)",
		"bash -c 'git clone https://e.com/p q; cd q && claude -p hi'",
		"mkdir q && git clone https://e.com/p q && cd q && claude -p hi",
		"mkdir q && cd q && git clone https://e.com/p . && claude -p hi",
		"git worktree add ../wt FETCH_HEAD && cd ../wt && claude -p hi",
		"git submodule update --init && cd lib && claude -p hi",
		"npx degit e/p q && cd q && claude -p hi",
		"cp -r proj q && cd q && claude -p hi",
		"cp -r proj/. lib && cd lib && claude -p hi",
		"cp -r gone lib && cd lib && claude -p hi",
		"rsync -a proj/ lib && cd lib && claude -p hi",
		"rsync -a host:proj/ lib && cd lib && claude -p hi",
		"mv proj q && cd q && claude -p hi",
		"ln -s proj q && cd q && claude -p hi",
		"curl -L https://e.com/p.tgz | tar xz -C lib && cd lib && claude -p hi",
		"curl -L https://e.com/p.tgz | tar xz && cd p-1.0 && claude -p hi",
		"git clone https://e.com/p q; env -C q claude -p hi",
		". ./gone.sh && cd q && claude -p hi",
		"make q && env -C q claude -p hi",
		"(sleep 9; claude --plugin-dir q -p hi) & git clone https://e.com/p q",
		"until claude --plugin-dir q -p hi; do git clone https://e.com/p q; done",
	} {
		if v := (loadRow{command, world, "Bash", runs(command)}).judged(t); v.Decision > approver.Ask {
			t.Errorf("%s is %v", command, v.Decision)
		}
	}
	for _, command := range []string{
		"mkdir q; claude --plugin-dir q -p hi",
		"claude --plugin-dir missing -p hi",
		"cd missing && claude -p hi",
		"claude --plugin-dir plugs -p hi",
		"cp file.txt good/ && claude --plugin-dir good -p hi",
		"cp -r docs good/ && claude --plugin-dir good -p hi",
		"mkdir -p good/skills/x && claude --plugin-dir good -p hi",
		"git clone https://e.com/p && claude --plugin-dir good -p hi",
		"mkdir -p q/src && cd q && git init && claude -p hi",
		"mkdir -p q && cp file.txt q/ && cd q && claude -p 'summarize file.txt'",
		"cp file.txt lib/ && cd lib && claude -p hi",
		"cp -r docs lib && cd lib && claude -p hi",
		"cp -r docs ../q9 && cd ../q9 && claude -p hi",
		"rsync -a docs/ lib && cd lib && claude -p hi",
		"mv file.txt lib/ && (cd lib && claude -p hi)",
		"cat > lib/notes.md <<< hi; cd lib && claude -p 'read notes.md'",
		"cd lib && npm install && claude -p hi",
		"cd lib && git pull && claude -p hi",
		"cd lib && claude -p hi | tee out.txt",
		"git worktree add ../wt -b x && cd ../wt && claude -p hi",
		"git worktree add -b x ../wt main && cd ../wt && claude -p hi",
		"git init q && cd q && claude -p hi",
		"cargo new q && cd q && claude -p hi",
		"git clone https://e.com/p && cd lib && claude -p hi",
		"git clone https://e.com/p && claude -p 'look at p'",
		"git submodule update --init && claude -p hi",
		"tar czf /tmp/x.tgz lib && cd lib && claude -p hi",
	} {
		if v := (loadRow{command, world, "Bash", runs(command)}).judged(t); v.Decision <= approver.Ask {
			t.Errorf("%s is %v (%s): %s", command, v.Decision, v.Rule, v.Reason)
		}
	}
}

// Agents that were defined for one start had servers of their own, which started with them:
// only the word hooks was looked for. Now each key is plain, or a question.
func TestAgentsOfAStart(t *testing.T) {
	for agents, plain := range map[string]bool{
		`{"a":{"description":"d","prompt":"p","mcpServers":[{"x":{"command":"date"}}]}}`: false,
		`{"a":{"description":"d","mcpServers":{"x":{}}}}`:                                false,
		`{"a":{"prompt":"p","hooks":{"Stop":[]}}}`:                                       false,
		`{"a":{"prompt":"p","ho\u006fks":{"Stop":[]}}}`:                                  false,
		`{"a":{"prompt":"p","skills":["x"]}}`:                                            false,
		`{"a":{"prompt":"p","initialPrompt":" /x"}}`:                                     false,
		`{"a":{"prompt":"p","observer":"b"}}`:                                            false,
		`{"a":{"prompt":"p","isolation":"remote"}}`:                                      false,
		`{"a":{"prompt":"p","permissionMode":"bypassPermissions"}}`:                      false,
		`{"a":{"prompt":"p"},"b":{"later":1}}`:                                           false,
		`{"a":[`:                                                                         false,
		`{"a":1}`:                                                                        false,
		`agents.json`:                                                                    false,
		`{"a":{}} {}`:                                                                    false,
		`{"a":"text"}`:                                                                   false,
		`{}`:                                                                             true,
		`{"a":{"description":"Use \u2014 always","prompt":"Look for hooks, mcpServers and ` +
			`\"hooks\"","tools":["Read"],"model":"sonnet"}}`: true,
		`{"a":{"prompt":"p","mcpServers":["github"],"maxTurns":3,"memory":"project","background":true,` +
			`"permissionMode":"plan"}}`: true,
		`{"a":{"prompt":"p","initialPrompt":"start with ` +
			`tests","isolation":"worktree","effort":"high"},"b":{"prompt":"p","color":"red"}}`: true,
		`{"a":{"description":"d","prompt":"p","disallowedTools":["Write"],"mcpServers":[],"omitClaudeMd":true,` +
			`"autoCompactWindow":200000}}`: true,
	} {
		for _, command := range []string{"claude --agents '" + agents + "' -p hi", "claude --agents='" + agents + "' -p hi"} {
			if v := (loadRow{"", nil, "Bash", runs(command)}).judged(t); (v.Decision > approver.Ask) != plain {
				t.Errorf("%s is %v (%s): %s", command, v.Decision, v.Rule, v.Reason)
			}
		}
	}
}
