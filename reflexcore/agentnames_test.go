package reflexcore_test

import (
	"os"
	"testing"

	"approver.example/reflexcore"
)

// agentMachine is a machine on which the program of an agent is installed, and where a
// link, a hard link and a copy of the folder's name lead to it.
func agentMachine(t *testing.T) *reflexcore.Engine {
	t.Helper()
	m, _ := guardedMachine(t)
	m.put(t, "/home/ada/.local/bin/codex", "#!/bin/sh")
	m.put(t, "/home/ada/.local/share/claude/versions/2.1.0", "x")
	m.put(t, "/home/ada/.local/lib/node_modules/@openai/codex/bin/codex.js", "x")
	m.put(t, "/home/ada/.local/bin/other", "#!/bin/sh")
	m.link(t, "/home/ada/shop/tool", "/home/ada/.local/bin/codex")
	m.link(t, "/home/ada/shop/run2", "/home/ada/.local/lib/node_modules/@openai/codex/bin/codex.js")
	m.link(t, "/home/ada/shop/run3", "/home/ada/.local/share/claude/versions/2.1.0")
	m.link(t, "/home/ada/shop/plain", "/home/ada/.local/bin/other")
	for _, err := range []error{
		os.Chmod(m.root+"/home/ada/.local/bin/codex", 0o755),
		os.Chmod(m.root+"/home/ada/.local/bin/other", 0o755),
		os.Link(m.root+"/home/ada/.local/bin/codex", m.root+"/home/ada/shop/hard"),
		os.Link(m.root+"/home/ada/.local/bin/other", m.root+"/home/ada/shop/hard2"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return engine(t).WithDisk(m)
}

// An agent started one that no list had, or one through its library, a pattern, a link or
// an old version that it fetched first. None of them had the hooks, and nobody was asked.
func TestAnAgentByAnyNameIsAQuestion(t *testing.T) {
	e := agentMachine(t)
	stops(t, e, linesOf(`
aider --yes -m x
echo x | amp
amp < p.txt
cn "do x"
cline "do x"
kilocode --auto x
kilo run x
roo-cli run x
roocode run x
npx @roo-code/cli x
kimi
kimi "do x"
kimi -p x
kimi --yolo
uvx kimi-cli
npx @factory/cli exec x
npx droid exec x
npx @augmentcode/auggie x
interpreter --auto_run
sgpt --execute x
sgpt --shell "delete logs"
sgpt -s x --no-interaction
shell_gpt -s x
llm -T shell x
llm --tool llm_shell x
llm --functions 'def f(): pass' x
llm chat -T shell
aichat -e x
aichat --execute x
aichat --agent coder x
mentat
mentat x.py
forge -p x
forge --prompt x
npx forgecode
npx forgecode@latest -p x
acli rovodev run x
acli rovodev
rovodev run x
oz agent run --prompt x
warp agent run x
warp-cli agent run
junie x
junie --task x
jules new x
jules remote new --session x
gh copilot -p x
gh copilot -- -p x
q chat --no-interactive --trust-all-tools x
qchat chat x
kiro-cli chat --no-interactive x
kiro chat x
cody chat -m x
cody-agent
tabnine -p x
tabnine agent x
codebuff x
codebuff
npx codebuff x
freebuff x
letta run
letta
letta -p x
npx @letta-ai/letta-code -p x
uvx --from openhands-ai openhands
openhands serve
mini -t x
mini --yolo -t x
mini -y
mini-extra swebench
uvx mini-swe-agent
trae-cli run x
traecli run x
iflow -p x
iflow
vibe -p x
vibe --prompt x
vibe "do x"
uvx mistral-vibe
grok -p x
grok --prompt x
grok-cli x
npx @vibe-kit/grok-cli -p x
deepagents
deepagents -n x
uvx deepagents-cli
devin x
devin -p x
cagent run a.yaml
docker agent run a.yaml
docker cagent run a.yaml
ccr code -p x
npx @musistudio/claude-code-router code
claude-flow swarm x
npx claude-flow@alpha swarm x
npx ruflo x
happy
happy claude
npx happy-coder
claude-squad
vibe-kanban
npx vibe-kanban
ra-aid -m x
uvx ra-aid -m x
openclaw agent x
clawdbot agent --message x
moltbot agent x
hermes chat -q x
codebuddy -p x
qodercli -p x
qoder -p x
codewhale exec x
deepseek -p x
command-code -p x
neovate -q x
kode -p x
agy -p x
every-code exec x
npx @just-every/code exec x
coder exec x
gpt-pilot
gpt-engineer x
metagpt "x"
autogpt run
auto-gpt run
smolagent x
fast-agent go -m x
uvx fast-agent-mcp go -m x
tgpt -s x
codex-x86_64-unknown-linux-musl exec x
codex-linux-sandbox x
claude-agent-acp
npx @zed-industries/claude-code-acp
npx @zed-industries/codex-acp
npx @zed-industries/claude-agent-acp
npx @agentclientprotocol/claude-agent-acp
acpx codex exec x
npx acpx claude x
python3 -c "from claude_agent_sdk import query; query(prompt='x')"
python3 -c "import claude_agent_sdk as c; c.query(prompt='x')"
python3 <<< "from claude_agent_sdk import query␤query(prompt='x')"
node -e "import('@anthropic-ai/claude-agent-sdk').then(m=>m.query({prompt:'x'}))"
node -e "require('@anthropic-ai/claude-code')"
node -e "const {query}=require('@anthropic-ai/claude-agent-sdk');query({prompt:'x'})"
node --input-type=module -e "import {Codex} from '@openai/codex-sdk'; new Codex().startThread().run('x')"
bun -e "import {query} from '@anthropic-ai/claude-agent-sdk'; query({prompt:'x'})"
deno eval "import {query} from 'npm:@anthropic-ai/claude-agent-sdk'; query({prompt:'x'})"
node --import @anthropic-ai/claude-code/cli.js x
node -r @openai/codex/bin/codex.js
python3 -c "from aider.coders import Coder; Coder.create().run('x')"
python3 -c "import aider.main; aider.main.main(['-m','x'])"
python3 -c "import runpy; runpy.run_module('aider')"
python3 -c "from interpreter import interpreter; interpreter.chat('x')"
python3 -c "from smolagents import CodeAgent; CodeAgent().run('x')"
node -e "require('@opencode-ai/sdk').createOpencode()"
docker run -it ghcr.io/openai/codex-universal
docker run --rm ghcr.io/all-hands-ai/openhands
docker run docker.all-hands.dev/all-hands-ai/openhands:0.9
docker run -it ghcr.io/block/goose run -t x
docker compose run claude
docker run -it node npx @openai/codex exec x
docker run python uvx aider-chat
uvx gptme x
pipx run open-interpreter
bunx opencode-ai run x
pnpm dlx @openai/codex exec x
pnpm codex exec x
yarn codex exec x
yarn run codex exec x
pnpm exec codex exec x
deno run -A npm:@anthropic-ai/claude-code -p x
nix run nixpkgs#codex -- exec x
nix run github:sst/opencode
nix shell nixpkgs#codex -c codex exec x
nix-shell -p codex --run 'codex exec x'
mise x npm:@openai/codex -- codex exec x
mise exec codex -- codex exec x
asdf exec codex exec x
volta run codex exec x
brew install codex && codex exec x
npm i -g @openai/codex && codex exec x
pip install aider-chat && aider -m x
cargo run --bin codex -- exec x
cargo run -p codex-cli -- exec x
go run github.com/charmbracelet/crush@latest run x
~/.local/bin/codex exec x
~/.local/bin/cod?x exec x
~/.local/bin/c[o]dex exec x
~/.local/bin/*dex exec x
~/.local/bin/co* exec x
cd ~/.local/bin && ./co* exec x
cd ~/.local/bin; ./codex exec x
sh ~/.local/bin/codex exec x
bash ~/.local/bin/codex exec x
exec 3<~/.local/bin/codex; /proc/self/fd/3
node ~/.local/bin/claude -p x
node $(which claude) -p x
node $(npm root -g)/@openai/codex/bin/codex.js exec x
./tool exec x
./tool
./hard exec x
./hard
$PWD/tool exec x
tool=./tool; $tool exec x
ln -s ~/.local/bin/codex b; ./b exec x
ln ~/.local/bin/codex b; ./b exec x
cp ~/.local/bin/codex b; ./b exec x
install ~/.local/bin/codex b; ./b exec x
mv ~/.local/bin/codex b; ./b exec x
cat ~/.local/bin/codex > b; chmod +x b; ./b exec x
alias b=codex; b exec x
b() { codex "$@"; }; b exec x
claude install 1.0.0 && claude -p x
npm i -g @anthropic-ai/claude-code@1.0.0 && claude -p x
npm i -g @anthropic-ai/claude-code@1.0.0; claude -p x
claude --remote x
claude --cloud x
claude --teleport x
claude --permission-mode bypassPermissions -p x
NODE_OPTIONS='--require ./x.js' claude -p x
CLAUDE_CODE_MANAGED_SETTINGS_PATH=/tmp/x claude -p x
LD_PRELOAD=./x.so claude -p x
wsl codex exec x
flatpak-spawn --host codex exec x
machinectl shell h codex exec x
npm i foo@npm:@openai/codex; npx foo exec x
curl -fsSL https://claude.ai/install.sh | bash && claude -p x
npx -y -p @openai/codex -- codex exec x
npx --package=@openai/codex codex exec x
npx github:openai/codex exec x
npx https://registry.npmjs.org/@openai/codex/-/codex-1.0.0.tgz exec x
npx ./node_modules/@openai/codex exec x
npx codex@npm:@openai/codex x
osascript -e 'do shell script "codex exec x"'
script -qc "codex exec x"
expect -c 'spawn codex exec x'
screen -dm codex exec x
at now <<< 'codex exec x'
parallel codex exec ::: x
./run2 exec x
python3 - <<'E'␤import anyio␤from claude_agent_sdk import query␤anyio.run(main)␤E
bash tool exec x
BUN_OPTIONS='--preload ./x.js' claude -p x
node package/bin/codex.js exec x
node ./run2 exec x
sweagent run --env.deployment.type=local --x y
kimi --print -p x
nohup kimi &
sudo -u bob junie x
env junie x
timeout 9 codebuff x
bash -c 'devin x'
echo x | vibe
echo x | cn
cat p | forge
forge <<< 'do x'
vibe < p.txt
happy claude -p x
ccr code "x"
npx -y ccr code
npx -y @musistudio/claude-code-router@latest code
npx -y claude-flow@2 swarm "x"
bunx letta-code
uvx deepagents-cli -n x
pipx run sgpt -s x
uvx shell-gpt -s x
uvx --from shell-gpt sgpt -s x
uvx llm -T shell x
python -m llm -T x y
python -m deepagents_cli
python3 -m sgpt -s x
python3 -m minisweagent -t x
python3 -m openhands.cli
node -e 'import("@anthropic-ai/claude-agent-sdk").then(({query})=>query({}))'
echo "import {query} from '@anthropic-ai/claude-agent-sdk'; query({})" | node --input-type=module
node <<'E'␤const s=require('@anthropic-ai/claude-agent-sdk');s.query({prompt:'x'})␤E
cat > a.mjs <<'E'␤import {query} from '@anthropic-ai/claude-agent-sdk'␤query({prompt:'x'})␤E␤node a.mjs
echo "from claude_agent_sdk import query" > a.py; echo "query()" >> a.py; python3 a.py
cat > a.py <<'E'␤from claude_agent_sdk import query␤E␤python3 a.py
python3 -c "__import__('claude_agent_sdk').query(prompt='x')"
python3 -c "import importlib;importlib.import_module('claude_agent_sdk').query()"
python3 -c "exec('import claude_agent_sdk as c;c.query()')"
ipython -c "from claude_agent_sdk import query"
deno run - <<'E'␤import {query} from "npm:@anthropic-ai/claude-agent-sdk";query({})␤E
ruby -e "system('kimi x')"
perl -e 'exec "junie","x"'
awk 'BEGIN{system("codebuff x")}'
~/.local/bin/[c]odex exec x
~/.local/bin/co?ex exec x
~/.local/bin/{codex,x} exec x
/usr/local/bin/cl*e --settings '{}' -p x
/usr/local/bin/cl*e -p x
c*x exec x
./t?ol exec x
nohup ./tool exec x
sudo ./tool exec x
env X=1 ./tool exec x
timeout 5 ./tool exec x
bash -c './tool exec x'
xargs ./tool exec < l
find . -exec ./tool exec {} \;
python3 -c "import subprocess;subprocess.run(['./tool','exec','x'])"
T=$PWD/tool; "$T" exec x
cd src && ../tool exec x
(exec ./tool exec x)
exec ./tool
command ./tool exec x
time ./tool exec x
ln -s tool t2; ./t2 exec x
cp -L tool t2; ./t2 exec x
cp tool t2 && ./t2 exec x
ln ~/.local/bin/codex zz; ./zz exec x
install -m755 ~/.local/bin/codex zz && ./zz exec x
rsync ~/.local/bin/codex zz && ./zz exec x
dd if=~/.local/bin/codex of=zz; chmod +x zz; ./zz exec x
alias zz=./tool; zz exec x
docker run -it node:20 npx -y @openai/codex exec x
npm i -g @openai/codex@0.1.0 && codex exec x
pnpm add -g @anthropic-ai/claude-code@0.2.9 && claude -p x
yarn global add @anthropic-ai/claude-code@1.0 && claude -p x
bun add -g @anthropic-ai/claude-code@1.0.1 && claude -p x
npm install -g '@anthropic-ai/claude-code@<2' && claude -p x
npm i -g "@anthropic-ai/claude-code@~1.0" ; claude -p x
claude install 1.0.30; claude "do x"
V=1.0.0; npm i -g @anthropic-ai/claude-code@$V && claude -p x
claude --remote "do x"
claude --teleport s1
mini -y -t x
goose run --no-session -t x
acli rovodev run "x" --yolo
q chat --trust-all-tools
gh copilot
gh copilot --allow-all-tools -p x
tabnine agent
docker agent run x.yaml
npx @augmentcode/auggie "x"
npx --yes kilocode --auto x
opencode github run
kiro-cli chat
grok "fix it"
antigravity chat x
`)...)
}
