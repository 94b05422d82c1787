package claudesettings_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"approver.example/agents"
	"approver.example/agents/claudesettings"
	"approver.example/agents/settings"
)

const program = "/usr/local/bin/approver-hook"

// written is what install writes, and what has to stand there.
func written(t testing.TB) (string, settings.Want) {
	t.Helper()
	text, err := agents.Claude{}.HookConfig(program, "", 120*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	var s claudesettings.Settings
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	return string(text), settings.Want{Hooks: s.Hooks, TTL: 120 * time.Second}
}

func source(place settings.Place, text string) settings.Source {
	path := [...]string{"/etc/claude-code/managed-settings.json", "/h/.claude/settings.json", "/p/.claude/settings.json",
		"/p/.claude/settings.local.json"}[place]
	return settings.Source{Place: place, Path: path, Text: []byte(text), Missing: text == ""}
}

// double is a file with the command line once more, and these keys beside it.
func double(line, keys string) string {
	return `{"hooks":{"PreToolUse":[{"matcher":"*","hooks":[{"type":"command","command":"` + line + `",` + keys + `}]}]}}`
}

// The story: an agent, a project or a person leaves settings in which the hook seems
// to stand, and Claude Code runs calls without it. Doctor once looked whether there
// was a command with the right name. Each of these is now found, by comparing what is
// there, as Claude Code reads it, with what install would write.
func TestHooksThatLookInstalled(t *testing.T) {
	text, want := written(t)
	line := program + " --agent claude --deadline 290s"
	with := func(old, repl string) []string { return []string{old, repl} }
	for name, tt := range map[string]struct {
		swap           []string
		project, local string
		want           string
	}{
		"as install writes it": {},
		"a longer deadline": {swap: with("290s\",\n            \"timeout\": 330",
			"600s\",\n            \"timeout\": 700")},
		"a word on the screen": {swap: with(`"timeout": 330`, `"timeout": 330, "statusMessage": "asking"`)},
		"an empty matcher":     {swap: with(`"matcher": "*"`, `"matcher": ""`)},
		"all else": {swap: with(`{`,
			`{"model":"opus","permissions":{"allow":["Bash(ls)"],"defaultMode":"plan"},"env":{"A":"1"},"x":[{}],`)},
		"output thrown away":    {swap: with(line, line+" >/dev/null"), want: "the hook runs"},
		"failure forgiven":      {swap: with(line, line+" || true"), want: "the hook runs"},
		"both":                  {swap: with(line, line+" >/dev/null 2>&1 || true"), want: "the hook runs"},
		"another command after": {swap: with(line, line+"; exit 0"), want: "the hook runs"},
		"in the background":     {swap: with(line, line+" &"), want: "the hook runs"},
		"through a pipe":        {swap: with(line, line+" | head -c 0"), want: "the hook runs"},
		"only a comment":        {swap: with(line, "true # "+line), want: "no absolute path"},
		"a variable before":     {swap: with(line, "HOME=/tmp/mine "+line), want: "no absolute path"},
		"env before":            {swap: with(line, "/usr/bin/env -i "+line), want: "the hook runs"},
		"not":                   {swap: with(line, "/bin/false || "+line), want: "the hook runs"},
		"in a shell":            {swap: with(line, "sh -c '"+line+"'"), want: "no absolute path"},
		"another folder": {swap: with(line, "/tmp/x/approver-hook --agent claude --deadline 290s"),
			want: "the hook runs"},
		"another name": {swap: with(line, "/usr/local/bin/approver-hock --agent claude --deadline 290s"),
			want: "has no hook of approver before tools"},
		"a relative name": {swap: with(line, "approver-hook --agent claude --deadline 290s"),
			want: "no absolute path"},
		"another agent": {swap: with(line, program+" --agent claudex --deadline 290s"), want: "the hook runs"},
		"another socket": {swap: with(line, program+" --agent claude --socket /tmp/mine.sock --deadline 290s"),
			want: "the hook runs"},
		"another event": {swap: with(line, program+" --agent claude --event PostToolUse --deadline 290s"),
			want: "the hook runs"},
		"a short deadline": {swap: with("290s", "20s"), want: "the hook gives people 20s, less than the ttl"},
		"no deadline":      {swap: with(" --deadline 290s", ""), want: "the hook gives people 0s"},
		"two deadlines":    {swap: with("290s", "290s --deadline 1s"), want: "the hook runs"},
		"a short timeout": {swap: with(`"timeout": 330`, `"timeout": 60`),
			want: "claude kills the hook after 1m0s"},
		"no timeout": {swap: with(`"timeout": 330,`, ``), want: "claude kills the hook after 0s"},
		"no onFailure": {swap: with(`"timeout": 330,`+"\n            "+`"onFailure": "block"`, `"timeout": 330`),
			want: `no "onFailure": "block"`},
		"onFailure continue": {swap: with(`"block"`, `"continue"`), want: `no "onFailure": "block"`},
		"a narrowed matcher": {swap: with(`"matcher": "*"`, `"matcher": "Write"`),
			want: `only for tools that match "Write"`},
		"async":            {swap: with(`"timeout": 330`, `"timeout": 330, "async": true`), want: `"async"`},
		"async, otherwise": {swap: with(`"timeout": 330`, `"timeout": 330, "asyncRewake": true`), want: `"async"`},
		"only some calls": {swap: with(`"timeout": 330`, `"timeout": 330, "if": "Bash(git *)"`),
			want: "only for calls that match"},
		"once":             {swap: with(`"timeout": 330`, `"timeout": 330, "once": true`), want: `has "once"`},
		"arguments beside": {swap: with(`"timeout": 330`, `"timeout": 330, "args": ["x"]`), want: `has "args"`},
		"another shell": {swap: with(`"timeout": 330`, `"timeout": 330, "shell": "powershell"`),
			want: `has "shell"`},
		"another type": {swap: with(`"type": "command"`, `"type": "prompt", "prompt": "ok?"`),
			want: `of type "prompt"`},
		"an event in another case": {swap: with(`"PreToolUse"`, `"preToolUse"`), want: `does not take for "PreToolUse"`},
		"outside hooks": {swap: with(`"PreToolUse"`, `"Stop":[]},"x":{"PreToolUse"`),
			want: `stands outside "hooks"`},
		"no PostToolUse":        {swap: with(`"PostToolUse"`, `"Stop"`), want: "has no hook of approver at PostToolUse"},
		"no PostToolUseFailure": {swap: with(`"PostToolUseFailure"`, `"Stop"`), want: "at PostToolUseFailure"},
		"no ConfigChange":       {swap: with(`"ConfigChange"`, `"Stop"`), want: "at ConfigChange"},
		"disableAllHooks":       {swap: with(`{`, `{"disableAllHooks":true,`), want: `"disableAllHooks": true`},
		"disableAllHooks, project": {project: `{"disableAllHooks":true}`,
			want: `/p/.claude/settings.json has "disableAllHooks": true`},
		"disableAllHooks, local": {local: `{"disableAllHooks":true}`,
			want: `settings.local.json has "disableAllHooks": true`},
		"env SIMPLE":             {swap: with(`{`, `{"env":{"CLAUDE_CODE_SIMPLE":"1"},`), want: "CLAUDE_CODE_SIMPLE"},
		"env SIMPLE as a number": {swap: with(`{`, `{"env":{"CLAUDE_CODE_SIMPLE":1},`), want: "CLAUDE_CODE_SIMPLE"},
		"env SIMPLE off":         {swap: with(`{`, `{"env":{"CLAUDE_CODE_SIMPLE":"0"},`)},
		"env SAFE_MODE": {swap: with(`{`, `{"env":{"CLAUDE_CODE_SAFE_MODE":"true"},`),
			want: "CLAUDE_CODE_SAFE_MODE"},
		"env COWORK": {swap: with(`{`, `{"env":{"CLAUDE_CODE_USE_COWORK_PLUGINS":"yes"},`),
			want: "cowork_settings.json"},
		"env COWORK off": {swap: with(`{`, `{"env":{"CLAUDE_CODE_USE_COWORK_PLUGINS":"0"},`)},
		"env CONFIG_DIR": {swap: with(`{`, `{"env":{"CLAUDE_CONFIG_DIR":"/tmp/x"},`), want: "CLAUDE_CONFIG_DIR"},
		"env SHELL_PREFIX, local": {local: `{"env":{"CLAUDE_CODE_SHELL_PREFIX":"/tmp/x"}}`,
			want: "CLAUDE_CODE_SHELL_PREFIX"},
		"env SHELL_PREFIX, project": {project: `{"env":{"CLAUDE_CODE_SHELL_PREFIX":"/tmp/x"}}`,
			want: "CLAUDE_CODE_SHELL_PREFIX"},
		"env HOME": {project: `{"env":{"HOME":"/tmp/x"}}`, want: "sets HOME"},
		// A repository brings the same command line once more. Claude Code runs equal lines
		// once, as the later file says: without waiting.
		"a double, async": {project: double(line, `"timeout":330,"onFailure":"block","async":true`),
			want: `another hook of approver before tools: the hook is "async"`},
		"a double, short": {local: double(line, `"timeout":0.001`),
			want: "another hook of approver before tools: claude kills the hook"},
		"a double, forgiving": {project: double(line, `"timeout":330`), want: `no "onFailure": "block"`},
		"a double, some calls": {project: double(line, `"timeout":330,"onFailure":"block","if":"Bash(ls)"`),
			want: "only for calls that match"},
		"a double as install's": {project: double(line, `"timeout":330,"onFailure":"block"`)},
		// The check of values errs towards reporting: what it takes for dropped may count.
		"a double that may count": {project: strings.Replace(double(line, `"timeout":1`), "{", `{"permissions":"x",`, 1),
			want: "another hook of approver"},
		"off beside an odd event": {project: `{"hooks":{"matcher":[]},"disableAllHooks":true}`,
			want: `"disableAllHooks": true`},
		"off beside an odd list": {local: `{"hooks":{"PreToolUse":{}},"disableAllHooks":true}`,
			want: `"disableAllHooks": true`},
		"off beside odd hooks": {project: `{"hooks":5,"disableAllHooks":true}`, want: `"disableAllHooks": true`},
		"off before an odd mode": {project: `{"disableAllHooks":true,"permissions":{"defaultMode":"x"}}`,
			want: `"disableAllHooks": true`},
		"off beside odd days": {project: `{"cleanupPeriodDays":"x","disableAllHooks":true}`,
			want: `"disableAllHooks": true`},
		"SIMPLE beside an odd one": {project: `{"hooks":{"matcher":[]},"env":{"CLAUDE_CODE_SIMPLE":"1"}}`,
			want: "CLAUDE_CODE_SIMPLE"},
		"LD beside an odd one":   {project: `{"permissions":"x","env":{"LD_DEBUG":"help"}}`, want: "sets LD_DEBUG"},
		"HOME beside an odd one": {local: `{"permissions":[],"env":{"HOME":"/x"}}`, want: "sets HOME"},
		"an odd event alone":     {project: `{"hooks":{"matcher":[]}}`},
		// The courier takes a day at most, and with a longer one it asks nobody.
		"a report of 25 h": {swap: with("--event PostToolUse --deadline 8s\",\n            \"timeout\": 10",
			"--event PostToolUse --deadline 25h\",\n            \"timeout\": 90001"), want: "takes 24h0m0s at most"},
		"a report of 20 s": {swap: with("--event PostToolUse --deadline 8s\",\n            \"timeout\": 10",
			"--event PostToolUse --deadline 20s\",\n            \"timeout\": 30"), want: "the hook runs"},
		"a report of 8000ms": {swap: with("--event PostToolUse --deadline 8s", "--event PostToolUse --deadline 8000ms"),
			want: "the hook"},
		"a failure of 9 s": {swap: with("--event PostToolUseFailure --deadline 8s",
			"--event PostToolUseFailure --deadline 9s"), want: "the hook runs"},
		"settings of 0h8s": {swap: with("--event ConfigChange --deadline 8s", "--event ConfigChange --deadline 0h8s"),
			want: "the hook runs"},
		"settings of 8.0s": {swap: with("--event ConfigChange --deadline 8s", "--event ConfigChange --deadline 8.0s"),
			want: "the hook runs"},
		"a call of 25 h": {swap: with("290s\",\n            \"timeout\": 330", "25h\",\n            \"timeout\": 90001"),
			want: "takes 24h0m0s at most"},
		"a call of 1441m": {swap: with("290s\",\n            \"timeout\": 330",
			"1441m\",\n            \"timeout\": 90001"), want: "takes 24h0m0s at most"},
		"a call of a day": {swap: with("290s\",\n            \"timeout\": 330", "24h\",\n            \"timeout\": 90001")},
		// The loader prints the shell's libraries and ends with 0, which means "go on".
		"env LD_TRACE": {swap: with(`{`, `{"env":{"LD_TRACE_LOADED_OBJECTS":"1"},`),
			want: "sets LD_TRACE_LOADED_OBJECTS"},
		"env LD_DEBUG":  {local: `{"env":{"LD_DEBUG":"help"}}`, want: "sets LD_DEBUG"},
		"env BASH_ENV":  {project: `{"env":{"BASH_ENV":"/tmp/x"}}`, want: "sets BASH_ENV"},
		"env ENV":       {project: `{"env":{"ENV":"/tmp/x"}}`, want: "sets ENV"},
		"env BASH_FUNC": {project: `{"env":{"BASH_FUNC_exec%%":"() { :; }"}}`, want: "sets BASH_FUNC_exec"},
		"env DYLD": {project: `{"env":{"DYLD_INSERT_LIBRARIES":"/tmp/x"}}`,
			want: "sets DYLD_INSERT_LIBRARIES"},
		"env NODE_OPTIONS": {project: `{"env":{"NODE_OPTIONS":"--require /tmp/x.js"}}`, want: "sets NODE_OPTIONS"},
		"env NODE_OPTIONS -r": {project: `{"env":{"NODE_OPTIONS":"--max-old-space-size=4096 -r ./x.js"}}`,
			want: "sets NODE_OPTIONS"},
		"env NODE_OPTIONS import": {project: `{"env":{"NODE_OPTIONS":"--import=./x.js"}}`, want: "sets NODE_OPTIONS"},
		"env NODE_OPTIONS loader": {project: `{"env":{"NODE_OPTIONS":"--no-warnings --experimental-loader ./x.js"}}`,
			want: "sets NODE_OPTIONS"},
		"env NODE_OPTIONS _":      {project: `{"env":{"NODE_OPTIONS":"--require_ x"}}`, want: "sets NODE_OPTIONS"},
		"env NODE_OPTIONS quoted": {project: `{"env":{"NODE_OPTIONS":"\"--require\" x"}}`, want: "sets NODE_OPTIONS"},
		"env NODE_OPTIONS hang":   {project: `{"env":{"NODE_OPTIONS":"--inspect-brk"}}`, want: "sets NODE_OPTIONS"},
		"env ENV relative":        {project: `{"env":{"ENV":"./x"}}`, want: "sets ENV"},
		"env ENV expanded":        {project: `{"env":{"ENV":"$HOME"}}`, want: "sets ENV"},
		"env ENV home":            {project: `{"env":{"ENV":"~x"}}`, want: "sets ENV"},
		"env ENV command":         {project: "{\"env\":{\"ENV\":\"`x`\"}}", want: "sets ENV"},
		"env MALLOC_CONF":         {project: `{"env":{"MALLOC_CONF":"abort_conf:true"}}`, want: "sets MALLOC_CONF"},
		"env MALLOC_TRACE":        {project: `{"env":{"MALLOC_TRACE":"/x"}}`, want: "sets MALLOC_TRACE"},
		"env MALLOC_TOP_PAD_":     {project: `{"env":{"MALLOC_TOP_PAD_":"9"}}`, want: "sets MALLOC_TOP_PAD_"},
		"env MALLOC_ARENA odd":    {project: `{"env":{"MALLOC_ARENA_MAX":"/x"}}`, want: "sets MALLOC_ARENA_MAX"},
		"env LD_LIBRARY_PATH":     {project: `{"env":{"LD_LIBRARY_PATH":"/opt/cuda/lib64"}}`, want: "sets LD_LIBRARY_PATH"},
		"env NODE_OPTIONS number": {project: `{"env":{"NODE_OPTIONS":5}}`, want: "sets NODE_OPTIONS"},
		"env NODE_OPTIONS list":   {project: `{"env":{"NODE_OPTIONS":["-r"]}}`, want: "sets NODE_OPTIONS"},
		"env GOMAXPROCS":          {project: `{"env":{"GOMAXPROCS":"30001"}}`, want: "sets GOMAXPROCS"},
		// A value counts as Claude Code decodes it. What is no number from 1 to 1024 counts.
		"env GOMAXPROCS escaped":  {project: `{"env":{"GOMAXPROCS":"\u0039\u0039999"}}`, want: "sets GOMAXPROCS"},
		"env GOMAXPROCS 1e5":      {project: `{"env":{"GOMAXPROCS":1e5}}`, want: "sets GOMAXPROCS"},
		"env GOMAXPROCS 99999.0":  {project: `{"env":{"GOMAXPROCS":99999.0}}`, want: "sets GOMAXPROCS"},
		"env GOMAXPROCS number":   {project: `{"env":{"GOMAXPROCS":99999}}`, want: "sets GOMAXPROCS"},
		"env GOMAXPROCS 9.9999E4": {project: `{"env":{"GOMAXPROCS":9.9999E+4}}`, want: "sets GOMAXPROCS"},
		"env GOMAXPROCS huge":     {project: `{"env":{"GOMAXPROCS":1e400}}`, want: "sets GOMAXPROCS"},
		"env GOMAXPROCS digits":   {project: `{"env":{"GOMAXPROCS":"99999999999999999999"}}`, want: "sets GOMAXPROCS"},
		"env GOMAXPROCS zeros":    {project: `{"env":{"GOMAXPROCS":"0099999"}}`, want: "sets GOMAXPROCS"},
		"env GOMAXPROCS 1025":     {project: `{"env":{"GOMAXPROCS":"1025"}}`, want: "sets GOMAXPROCS"},
		"env GOMAXPROCS list":     {project: `{"env":{"GOMAXPROCS":["99999"]}}`, want: "sets GOMAXPROCS"},
		"env GOMAXPROCS nested":   {project: `{"env":{"GOMAXPROCS":[[99999]]}}`, want: "sets GOMAXPROCS"},
		"env GOMAXPROCS object":   {project: `{"env":{"GOMAXPROCS":{"a":1}}}`, want: "sets GOMAXPROCS"},
		"env GOMAXPROCS blank":    {project: `{"env":{"GOMAXPROCS":" 99999"}}`, want: "sets GOMAXPROCS"},
		"env GOMAXPROCS tab":      {project: `{"env":{"GOMAXPROCS":"99999\t"}}`, want: "sets GOMAXPROCS"},
		"env GOMAXPROCS hex":      {project: `{"env":{"GOMAXPROCS":"0x1869f"}}`, want: "sets GOMAXPROCS"},
		"env GOMAXPROCS bar":      {project: `{"env":{"GOMAXPROCS":"99_999"}}`, want: "sets GOMAXPROCS"},
		"env GOMAXPROCS plus":     {project: `{"env":{"GOMAXPROCS":"+99999"}}`, want: "sets GOMAXPROCS"},
		"env GOMAXPROCS minus":    {project: `{"env":{"GOMAXPROCS":-1}}`, want: "sets GOMAXPROCS"},
		"env GOMAXPROCS zero":     {project: `{"env":{"GOMAXPROCS":"0"}}`, want: "sets GOMAXPROCS"},
		"env GOMAXPROCS wide": {project: `{"env":{"GOMAXPROCS":"\uff19\uff19\uff19\uff19\uff19"}}`,
			want: "sets GOMAXPROCS"},
		"env GOMAXPROCS true":      {project: `{"env":{"GOMAXPROCS":true}}`, want: "sets GOMAXPROCS"},
		"env GOMAXPROCS null":      {project: `{"env":{"GOMAXPROCS":null}}`, want: "sets GOMAXPROCS"},
		"env GOMAXPROCS key":       {project: `{"\u0065nv":{"GOM\u0041XPROCS":"99999"}}`, want: "sets GOMAXPROCS"},
		"env GOMAXPROCS last":      {project: `{"env":{"GOMAXPROCS":"2","GOMAXPROCS":"99999"}}`, want: "sets GOMAXPROCS"},
		"env GOMAXPROCS two envs":  {project: `{"env":{"GOMAXPROCS":"99999"},"env":{"A":"1"}}`, want: "stands there twice"},
		"env GOMAXPROCS marked":    {project: "\ufeff" + `{"env":{"GOMAXPROCS":"99999"}}`, want: "sets GOMAXPROCS"},
		"env GOMAXPROCS 8":         {project: `{"env":{"GOMAXPROCS":8}}`},
		"env GOMAXPROCS 8.0":       {project: `{"env":{"GOMAXPROCS":8.0}}`},
		"env GOMAXPROCS 1e1":       {project: `{"env":{"GOMAXPROCS":1e1}}`},
		"env GOMAXPROCS escaped 8": {project: `{"env":{"GOMAXPROCS":"\u0038"}}`},
		"env GOMAXPROCS 1024":      {project: `{"env":{"GOMAXPROCS":"1024"}}`},
		"env GOMAXPROCS empty":     {project: `{"env":{"GOMAXPROCS":""}}`},
		"env GOMAXPROCS honest":    {project: `{"env":{"GOMAXPROCS":"99999","GOMAXPROCS":"4"}}`},
		"env gomaxprocs":           {project: `{"env":{"gomaxprocs":"99999"}}`},
		// The same of the other switches, and of the keys on the way to them.
		"off, escaped": {project: `{"\u0064isableAllHooks":true}`, want: `"disableAllHooks": true`},
		"off, escaped, surrogate": {project: `{"\ud83d\ude00":1,"disable\u0041llHooks":true}`,
			want: `"disableAllHooks": true`},
		"off, true at last": {project: `{"disableAllHooks":false,"disableAllHooks":true}`, want: "stands there twice"},
		"off, true at first": {project: `{"disableAllHooks":true,"disable\u0041llHooks":false}`,
			want: "stands there twice"},
		"off, another case": {project: `{"disableAllHooks":true,"DisableAllHooks":false}`,
			want: `does not take for "disableAllHooks"`},
		"off, the long s": {project: `{"disableAllHooks":true,"di\u017fableAllHooks":false}`,
			want: `does not take for "disableAllHooks"`},
		"off, the Kelvin sign": {project: `{"disableAllHooks":true,"disableAllHoo\u212as":false}`,
			want: `does not take for "disableAllHooks"`},
		"off, marked": {project: "\ufeff" + `{"disableAllHooks":true}`, want: `"disableAllHooks": true`},
		"off beside a number": {project: `{"cleanupPeriodDays":1e999,"disableAllHooks":true}`,
			want: `"disableAllHooks": true`},
		"off in a proto":         {project: `{"__proto__":{"disableAllHooks":true}}`},
		"off, with comments":     {project: "// x\n" + `{"disableAllHooks":true}`, want: "invalid character"},
		"off, a comma too many":  {project: `{"disableAllHooks":true,}`, want: "invalid character"},
		"SIMPLE, escaped":        {project: `{"env":{"CLAUDE_CODE_SIMPL\u0045":"\u0031"}}`, want: "CLAUDE_CODE_SIMPLE"},
		"SIMPLE, off, escaped":   {project: `{"env":{"CLAUDE_CODE_SIMPLE":"\u0030"}}`},
		"SIMPLE, null":           {project: `{"env":{"CLAUDE_CODE_SIMPLE":null}}`},
		"SIMPLE, false":          {project: `{"env":{"CLAUDE_CODE_SIMPLE":false}}`},
		"SIMPLE, 0.0":            {project: `{"env":{"CLAUDE_CODE_SIMPLE":0.0}}`},
		"SIMPLE, 1.0":            {project: `{"env":{"CLAUDE_CODE_SIMPLE":1.0}}`, want: "CLAUDE_CODE_SIMPLE"},
		"SIMPLE, a list":         {project: `{"env":{"CLAUDE_CODE_SIMPLE":["1"]}}`, want: "CLAUDE_CODE_SIMPLE"},
		"LD, escaped":            {project: `{"env":{"\u004cD_PRELOAD":"\u002fx"}}`, want: "sets LD_PRELOAD"},
		"ENV, escaped":           {project: `{"env":{"ENV":"\u002fx"}}`, want: "sets ENV"},
		"NODE_OPTIONS, escaped":  {project: `{"env":{"NODE_OPTIONS":"\u002d\u002drequire ./x"}}`, want: "sets NODE_OPTIONS"},
		"NODE_OPTIONS, true":     {project: `{"env":{"NODE_OPTIONS":true}}`, want: "sets NODE_OPTIONS"},
		"MALLOC_ARENA_MAX, 2":    {project: `{"env":{"MALLOC_ARENA_MAX":2}}`},
		"MALLOC_ARENA_MAX, list": {project: `{"env":{"MALLOC_ARENA_MAX":["/x"]}}`, want: "sets MALLOC_ARENA_MAX"},
		"HOME, a number":         {project: `{"env":{"HOME":0}}`, want: "sets HOME"},
		// Honest: names of stages, sizes, and files without content.
		"env honest ENV":   {project: `{"env":{"ENV":"development"}}`},
		"env honest ENV 2": {swap: with(`{`, `{"env":{"ENV":"prod-eu_1"},`)},
		"env honest sizes": {project: `{"env":{"NODE_OPTIONS":"--max-old-space-size=8192 --max_semi_space_size=64"}}`},
		"env honest node": {local: `{"env":{"NODE_OPTIONS":"--no-warnings --enable-source-maps ` +
			`--dns-result-order=ipv4first --stack-trace-limit 50"}}`},
		"env honest version": {project: `{"env":{"ENV":"v1.2"}}`},
		"env honest malloc": {project: `{"env":{"MALLOC_ARENA_MAX":"2","MALLOC_TRIM_THRESHOLD_":"131072",` +
			`"GOMAXPROCS":"8"}}`},
		"empty project": {project: " "},
		"empty local":   {local: "\n\t\n"},
		"empty, a mark": {project: "\ufeff"},
		"empty user":    {swap: with(text, " "), want: "no hook of approver"},
		"env NODE_ENV":  {project: `{"env":{"NODE_ENV":"test","LDFLAGS":"-lm"}}`},
		"an invalid mode": {swap: with(`{`, `{"permissions":{"defaultMode":"banana"},`),
			want: `"permissions.defaultMode" must be one of`},
		"permissions as a text": {swap: with(`{`, `{"permissions":"x",`), want: `"permissions" must be an object`},
		"cleanupPeriodDays": {swap: with(`{`, `{"cleanupPeriodDays":"x",`),
			want: `"cleanupPeriodDays" must be a number`},
		"a matcher without hooks": {swap: with(`"PreToolUse": [`, `"PreToolUse": [{"matcher":"x"},`), want: `has no "hooks"`},
		"invalid in the project":  {project: `{"permissions":"x"}`},
		"a comment":               {swap: with(`{`, "{ // all is well\n"), want: "is not JSON"},
		"a comma too many":        {swap: with(`{`, `{"a":[1,],`), want: "is not JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			user := text
			if tt.swap != nil {
				if user = strings.Replace(text, tt.swap[0], tt.swap[1], 1); user == text {
					t.Fatal("nothing was changed")
				}
			}
			weak := settings.Weak(claudesettings.Compare([]settings.Source{
				source(settings.Managed, ""), source(settings.User, user), source(settings.Project, tt.project),
				source(settings.Local, tt.local),
			}, want))
			if got := strings.Join(weak, "\n"); (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
				t.Errorf("found %q, want %q", got, tt.want)
			}
		})
	}
}

// The story: ~/.claude.json, in which Claude Code notes what it knows of its user, has
// an "env" of its own, and nobody looked there: with CLAUDE_CODE_SIMPLE in it no hook
// ran. Of that file, the "env" counts and nothing else.
func TestHooksThatTheGlobalEnvTakesAway(t *testing.T) {
	text, want := written(t)
	for global, want1 := range map[string]string{
		`{"env":{"CLAUDE_CODE_SIMPLE":"1"}}`:                         "CLAUDE_CODE_SIMPLE",
		`{"env":{"CLAUDE_CODE_SIMPLE":1}}`:                           "CLAUDE_CODE_SIMPLE",
		`{"env":{"CLAUDE_CODE_USE_COWORK_PLUGINS":"on"}}`:            "CLAUDE_CODE_USE_COWORK_PLUGINS",
		`{"env":{"CLAUDE_CODE_SIMPLE":"1"},"ENV":null}`:              "CLAUDE_CODE_SIMPLE",
		`{"\u0065nv":{"CLAUDE_CODE_SIMPLE":"1"}}`:                    "CLAUDE_CODE_SIMPLE",
		`{"env":{},"env":{"CLAUDE_CODE_SAFE_MODE":"yes"}}`:           "CLAUDE_CODE_SAFE_MODE",
		`{"env":{"CLAUDE_CODE_SHELL_PREFIX":"/evil"}}`:               "CLAUDE_CODE_SHELL_PREFIX",
		`{"env":{"LD_TRACE_LOADED_OBJECTS":"1"}}`:                    "LD_TRACE_LOADED_OBJECTS",
		`{"numStartups":3,"env":{"HOME":"/x"},"projects":{"/p":{}}}`: "HOME",
		`{"env":{"CLAUDE_CONFIG_DIR":"/x"},"hooks":5}`:               "CLAUDE_CONFIG_DIR",
		`{"env":`: "cannot be read",
		`{"env":{"A":"1"},"disableAllHooks":true,"permissions":"x"}`:   "",
		`{"hooks":{"PreToolUse":[]},"ENV":{"CLAUDE_CODE_SIMPLE":"1"}}`: "",
		`{"env":{"CLAUDE_CODE_SIMPLE":"1"},"env":null}`:                "",
		`{"env":{"GOMAXPROCS":"\u0039\u0039999"}}`:                     "GOMAXPROCS",
		"\ufeff" + `{"env":{"GOMAXPROCS":1e5}}`:                        "GOMAXPROCS",
		`{"env" : {"GOMAXPROCS":["99999"]}}`:                           "GOMAXPROCS",
		`{"env":{"GOMAXPROCS":"16"}}`:                                  "",
		`{"env":[]}`:                                                   "", `{}`: "", "null": "", "": "", "\n": "",
		"\ufeff ": "", "\x00": "cannot be read",
	} {
		g := settings.Source{Place: settings.Global, Path: "/h/.claude.json", Text: []byte(global)}
		weak := settings.Weak(claudesettings.Compare([]settings.Source{source(settings.User, text), g}, want))
		if got := strings.Join(weak, "\n"); (want1 == "") != (got == "") || !strings.Contains(got, want1) {
			t.Errorf("%s: found %q, want %q", global, got, want1)
		}
		g.Text = []byte(text) // hooks there are none, wherever they may stand
		if len(settings.Weak(claudesettings.Compare([]settings.Source{g},
			settings.Want{Hooks: want.Hooks, Anywhere: true}))) == 0 {
			t.Error("hooks in the global file hold")
		}
	}
}

// Managed settings hold whatever users and projects write, but for what is done to the
// hook's own process; and what managed settings say of hooks holds for everybody.
func TestManagedSettings(t *testing.T) {
	text, want := written(t)
	for name, tt := range map[string]struct{ managed, user, project, want string }{
		"managed":                      {text, "", "", ""},
		"disableAllHooks of a project": {text, "", `{"disableAllHooks":true}`, ""},
		"SIMPLE of a user":             {text, `{"env":{"CLAUDE_CODE_SIMPLE":"1"}}`, "", ""},
		"a prefix of a user":           {text, `{"env":{"CLAUDE_CODE_SHELL_PREFIX":"/x"}}`, "", "CLAUDE_CODE_SHELL_PREFIX"},
		"a prefix, pinned": {strings.Replace(text, "{", `{"env":{"CLAUDE_CODE_SHELL_PREFIX":""},`, 1),
			`{"env":{"CLAUDE_CODE_SHELL_PREFIX":"/x"}}`, "", ""},
		"an invalid user file": {text, `{"permissions":"x"}`, "", ""},
		"an invalid value":     {strings.Replace(text, "{", `{"permissions":"x",`, 1), "", "", ""},
		"disableAllHooks": {strings.Replace(text, "{", `{"disableAllHooks":true,`, 1), "", "",
			"disableAllHooks"},
		"no JSON":      {"{", text, "", "managed-settings.json:1:1: unexpected end"},
		"managed only": {`{"allowManagedHooksOnly":true}`, text, "", "allowManagedHooksOnly"},
		"plugins only": {`{"strictPluginOnlyCustomization":["hooks"]}`, text, "",
			"strictPluginOnlyCustomization"},
		"plugins only, all":    {`{"strictPluginOnlyCustomization":true}`, text, "", "strictPluginOnlyCustomization"},
		"plugins only, skills": {`{"strictPluginOnlyCustomization":["skills"]}`, text, "", ""},
		"in the project only":  {"", "", text, "there is no /h/.claude/settings.json"},
	} {
		t.Run(name, func(t *testing.T) {
			weak := settings.Weak(claudesettings.Compare([]settings.Source{
				source(settings.Managed, tt.managed), source(settings.User, tt.user),
				source(settings.Project, tt.project),
			}, want))
			if got := strings.Join(weak, "\n"); (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
				t.Errorf("found %q, want %q", got, tt.want)
			}
		})
	}
}

// What cannot be read, and what is not known, never counts as good.
func TestCompareFailsClosed(t *testing.T) {
	text, want := written(t)
	unreadable := source(settings.Local, "x")
	unreadable.Text, unreadable.Err = nil, errors.New("permission denied")
	for name, found := range map[string][]settings.Finding{
		"nothing at all": claudesettings.Compare(nil, settings.Want{}),
		"no sources":     claudesettings.Compare(nil, want),
		"nothing wanted": claudesettings.Compare([]settings.Source{source(settings.User, text)},
			settings.Want{}),
		"an unreadable file": claudesettings.Compare([]settings.Source{source(settings.User, text), unreadable},
			want),
		"another file wanted": claudesettings.Compare([]settings.Source{source(settings.User, text)},
			settings.Want{Hooks: want.Hooks, In: "/else"}),
		"the zero finding": {{}},
	} {
		if len(settings.Weak(found)) == 0 {
			t.Errorf("%s counts as good: %v", name, found)
		}
	}
}

// Another program's hook before tools can replace what was approved: it is named.
func TestForeignHooksAreNamed(t *testing.T) {
	text, want := written(t)
	user := strings.Replace(text, `"PreToolUse": [`,
		`"PreToolUse": [{"hooks":[{"type":"command","command":"/x/other.sh"}]},`, 1)
	found := claudesettings.Compare([]settings.Source{source(settings.User, user)}, want)
	if len(found) != 1 || !found[0].Harmless || !strings.Contains(found[0].Text, "/x/other.sh") {
		t.Errorf("%+v", found)
	}
}

// What is read of settings never panics, and what weakens is never forgotten by
// adding a file.
func FuzzCompare(f *testing.F) {
	text, want := written(f)
	f.Add(text, `{"disableAllHooks":true}`)
	f.Add(`{"env":{"CLAUDE_CODE_SIMPLE":1},"hooks":{"PreToolUse":[null]}}`, `{`)
	f.Add(`[]`, `null`)
	f.Fuzz(func(t *testing.T, user, project string) {
		one := source(settings.User, user)
		alone := settings.Weak(claudesettings.Compare([]settings.Source{one}, want))
		both := settings.Weak(claudesettings.Compare([]settings.Source{one, source(settings.Project, project)},
			want))
		if len(alone) > 0 && len(both) == 0 {
			t.Errorf("a project's file mends a user's: %q", alone)
		}
		if len(alone) == 0 && user != "" && !strings.Contains(user, "approver") {
			t.Errorf("good without a hook: %s", user)
		}
		changed, err := claudesettings.WithHooks("f", []byte(user), want.Hooks)
		if err == nil && len(settings.Weak(claudesettings.Compare([]settings.Source{source(settings.User,
			string(changed))}, want))) > 0 {
			t.Errorf("weak after install: %s", changed)
		}
	})
}

// The story: doctor told people to take approver out of the very file whose hooks held,
// because one hook in it was a double. Only a file that does not hold them is named so.
func TestACureTakesNoHookAwayThatHolds(t *testing.T) {
	text, want := written(t)
	line := program + " --agent claude --deadline 290s"
	bad := `{"matcher":"*","hooks":[{"type":"command","command":"` + line + `","timeout":1}]}`
	for name, tt := range map[string]struct {
		user, project string
		cure          bool // is "uninstall" a cure
	}{
		"a double in the file that holds": {user: strings.Replace(text, `"PreToolUse": [`, `"PreToolUse": [`+bad+",", 1)},
		"a double at the end of it": {user: strings.Replace(text, `"PreToolUse": [`,
			`"PreToolUse": [`+bad+","+bad+",", 1)},
		"a double in the project": {user: text, project: `{"hooks":{"PreToolUse":[` + bad + `]}}`, cure: true},
		"two doubles in the project": {user: text, project: `{"hooks":{"PreToolUse":[` + bad + `,` + bad + `]}}`,
			cure: true},
		"a whole copy, and a double of one": {user: text,
			project: strings.Replace(text, `"PreToolUse": [`, `"PreToolUse": [`+bad+",", 1)},
	} {
		found := claudesettings.Compare([]settings.Source{source(settings.User, tt.user),
			source(settings.Project, tt.project)}, want)
		told := false
		for _, f := range found {
			if strings.Contains(f.Text, "another hook of approver") {
				told = true
				if got := strings.HasPrefix(f.Fix, "approver uninstall claude --file "); got != tt.cure {
					t.Errorf("%s: the cure is %q", name, f.Fix)
				}
			}
		}
		if !told {
			t.Errorf("%s: the double is not told: %v", name, found)
		}
	}
}
