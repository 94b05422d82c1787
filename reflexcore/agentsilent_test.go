package reflexcore_test

import (
	"testing"
)

// The same words where nothing is started: other programs of those names, their versions,
// what is installed and not run, and texts about them.
func TestOtherProgramsOfAgentsNamesAreSilent(t *testing.T) {
	e := agentMachine(t)
	silent(t, e, linesOf(`
forge build
forge test -vvv
forge test --match-test x
forge script script/Deploy.s.sol
forge create src/X.sol:X
forge install x/y
forge fmt --check
forge coverage
forge snapshot
forge clean
forge deploy
forge tunnel
forge --version
forge init
forge inspect X abi
mini
mini test
./mini
mini-racer
q "select count(*) from x.csv"
q -H "select 1"
q -d , "select * from t.csv"
./q
cn
cn button card
cn a b
crush --version
vibe build
vibe
vibe d
vibes
dub run
interpreter --version
interpreter --help
amp
amp --version
llm "what is x"
llm -m gpt-4o "hello"
llm models
llm keys set openai
llm logs
llm embed -c x
llm install llm-ollama
cat x | llm "summarize"
llm tools list
droid --version
droid --help
mods "explain" < x
sgpt "what is x"
sgpt --code "fizzbuzz"
aichat "hello"
aichat --list-models
kimi --version
grok --version
grok --help
./grok
cody --help
cody auth login
junie --version
ai --help
ai
make ai
hermes -emit-binary -out x.hbc x.js
hermes x.js
hermes --version
coder login https://x
coder ssh ws
coder templates list
coder version
happy --version
strands --help
toad --version
kode .
devin --version
deepseek
ante build
adk --version
langgraph build
crewai create crew x
letta --version
copilot --version
gh copilot --help
gh copilot explain "tar xf"
gh agent-task list
gh agent-task view 1
gh pr create --title "codex"
oz
oz version
warp --version
warp-cli status
warp-cli connect
acli jira workitem list
acli rovodev --help
acli auth status
acli rovodev auth login
jules --version
jules login
continue
for i in 1 2; do continue; done
while read x; do [ -z "$x" ] && continue; echo $x; done < l
pip show aider-chat
pip install claude-agent-sdk
npm install @anthropic-ai/claude-agent-sdk
npm i @openai/codex-sdk
uv add claude-agent-sdk
python3 -c "import claude_agent_sdk; print(claude_agent_sdk.__version__)"
python3 -c "import claude_agent_sdk"
grep -rn "claude_agent_sdk" src
grep -rn "from '@anthropic-ai/claude-agent-sdk'" src
cat > a.ts <<'E'␤import { query } from '@anthropic-ai/claude-agent-sdk'␤E
sed -i 's/claude-code-sdk/claude-agent-sdk/' package.json
npm view @openai/codex-sdk versions
docker pull ghcr.io/all-hands-ai/openhands
docker build -t codex-universal .
ls ~/.local/bin/
ls ~/.local/bin/cod*
~/.local/bin/ls -la
~/.local/bin/l? -la
./build/x
./scripts/run.sh
./bin/*
for f in ./scripts/*.sh; do bash -n $f; done
cp ~/.local/bin/codex /tmp/backup
ls -la ./tool
./tool --version
~/.local/bin/codex --version
bash -n tool
file ./tool
which -a codex
claude install stable
npm i -g @anthropic-ai/claude-code@latest
npm i -g @anthropic-ai/claude-code && claude --version
npm i -g @openai/codex && codex --version
brew install codex && codex --version
brew upgrade goose
nix shell nixpkgs#go -c go test ./...
nix develop -c make
mise x -- go test ./...
mise exec node@20 -- npm test
pnpm test
yarn build
yarn run lint
pnpm exec eslint .
npm create vite@latest
npm init -y
cargo run --bin server
cargo run -- --port 1
go run ./cmd/goose
docker compose run web pytest
node server.js
node -e "console.log(1)"
python3 -c "print('claude_agent_sdk')"
./plain
./hard2 x
./tool --help
bash -n ./tool
./run2 --version
./hard --version
claude --resume x
cargo run -- codex
cargo run --bin codex -- --version
gh repo view
docker run -it node node x.js
yarn dev
kimi --help
echo "kimi do x"
git commit -m "from claude_agent_sdk import query"
`)...)
}
