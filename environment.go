package approver

import (
	"cmp"
	"context"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// This file shows people the environment of a call: what is dangerous or says where
// it acts, whenever it is set, and all else that is not as it was when the session
// began.

// A setting is one variable as it is remembered. The value is kept as a keyed hash,
// because it may be a secret that no form tells, and as people are shown it.
type setting struct {
	Hash  string `json:"hash"`
	Shown string `json:"shown"`
	Dirs  string `json:"dirs,omitempty"` // of PATH: the whole, to tell which folders are new
}

// firstEnv remembers the environment of each session's first call. The zero value
// remembers nothing.
type firstEnv struct {
	mu sync.Mutex
	of map[string]map[string]setting
}

const (
	maxBegan  = 2048               // sessions in memory; the store has the others
	keepBegan = 7 * 24 * time.Hour // in the store
	maxShown  = 1000               // bytes of one value on a card
)

func (m *firstEnv) get(scope string) (map[string]setting, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	env, ok := m.of[scope]
	return env, ok
}

func (m *firstEnv) note(scope string, env map[string]setting) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.of == nil || len(m.of) >= maxBegan {
		m.of = map[string]map[string]setting{} // the store has them
	}
	m.of[scope] = env
}

// sessionScope says whose environment it is. A session is claimed by the agent and
// only narrows: a new one begins anew, and what differs from its user's is shown.
func sessionScope(call ToolCall) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "environment 2 %q %t %d %q %q", call.Agent, call.Peer.Known, call.Peer.UID, call.Dir, call.Session))
	return hex.EncodeToString(sum[:16])
}

// userScope is the scope of all calls of one user. The agent claims nothing in it, so a
// new session, agent or folder hides no change.
func userScope(call ToolCall) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "environment 2 of a user %t %d", call.Peer.Known, call.Peer.UID))
	return hex.EncodeToString(sum[:16])
}

// Began notes that a session makes a call, and remembers the environment if it is
// the first, of the session or of its user. It does not wait for the store.
func (e *Environments) Began(call ToolCall) {
	if _, ok := e.firsts.get(sessionScope(call)); ok {
		return
	}
	e.tasks.start(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, PostTimeout)
		defer cancel()
		_, userErr := e.firstEnvironment(ctx, call, userScope(call))
		_, err := e.firstEnvironment(ctx, call, sessionScope(call))
		if err = errors.Join(userErr, err); err != nil {
			e.log.Warn("the environment that a session began with could not be kept", "error", err)
		}
	})
}

// firstEnvironment returns the environment of the first call in a scope, which may be this.
func (e *Environments) firstEnvironment(ctx context.Context, call ToolCall, scope string) (map[string]setting, error) {
	if env, ok := e.firsts.get(scope); ok {
		return env, nil
	}
	key, what := Key("environment", scope), "environment "+scope
	for range 3 {
		value, _, err := e.store.Get(ctx, key)
		if err == nil {
			var env map[string]setting
			text, err := e.requests.codec.OpenText(what, value)
			if err == nil {
				err = json.Unmarshal(text, &env)
			}
			if err != nil {
				return nil, err
			}
			e.firsts.note(scope, env)
			return env, nil
		} else if !errors.Is(err, ErrNotFound) {
			return nil, err
		}
		env, err := e.settings(call.Env)
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(env)
		if err != nil {
			return nil, err
		}
		if value, err = e.requests.codec.SealText(what, text); err != nil {
			return nil, err
		}
		now, err := e.store.Now(ctx)
		if err != nil {
			return nil, err
		}
		err = e.records.put(ctx, key, value, "", NewRev(), time.Time{}, now.Add(keepBegan))
		if err == nil {
			e.firsts.note(scope, env)
			return env, nil
		} else if !errors.Is(err, ErrConflict) { // else another call of the session was first
			return nil, err
		}
	}
	return nil, ErrConflict
}

// settings is an environment as it is remembered.
func (e *Environments) settings(env map[string]string) (map[string]setting, error) {
	key, err := hkdf.Key(sha256.New, e.codeKey, nil, "approver environment 1", 32)
	if err != nil {
		return nil, fmt.Errorf("deriving the key of the environment's hashes: %w", err)
	}
	hash := func(name, value string) string {
		h := hmac.New(sha256.New, key)
		h.Write([]byte(name + "=" + value))
		return hex.EncodeToString(h.Sum(nil)[:16])
	}
	out := make(map[string]setting, len(env))
	for name, value := range env {
		s := setting{Hash: hash(name, value)}
		if !strings.HasPrefix(name, ComparedEnv) {
			s.Shown = shownSetting(name, value)
		}
		if name == "PATH" {
			s.Dirs = value
		}
		out[name] = s
	}
	return out, nil
}

// ComparedEnv begins the names of those keys of [ToolCall.Env] that are only compared:
// a change is told, and the value is neither shown nor stored. It stands twice before a name
// that does not say by its last word that it chooses where or what; of such a variable the
// files that its value may name are not looked at.
const ComparedEnv = "#"

// maxEnvironment bounds what a card shows of the environment, in bytes: nobody reads more.
const maxEnvironment = 4 << 10

// environment is what people are shown of a call's environment, one variable each.
func (e *Environments) shown(ctx context.Context, call ToolCall) []string {
	if len(call.Env) == 0 {
		return nil
	}
	now, nowErr := e.settings(call.Env)
	before, err := e.firstEnvironment(ctx, call, sessionScope(call))
	first, userErr := e.firstEnvironment(ctx, call, userScope(call))
	var lines []string
	if err := errors.Join(nowErr, err, userErr); err != nil {
		e.log.Warn("it is not known which environment a session began with", "error", err)
		lines, before, first = append(lines, "it is not known what the session began with"), now, now
	}
	names := slices.AppendSeq(slices.Collect(maps.Keys(now)), maps.Keys(before))
	names = slices.AppendSeq(names, maps.Keys(first))
	slices.SortFunc(names, func(a, b string) int { // what is cut is the least dangerous
		if x, y := alwaysShown(a, call.Env[a]), alwaysShown(b, call.Env[b]); x != y {
			return cmp.Compare(toInt(y), toInt(x))
		}
		return cmp.Compare(a, b)
	})
	for _, name := range slices.Compact(names) {
		was, had := before[name]
		is, has := now[name]
		if had == has && was.Hash == is.Hash { // the session began so; did its user's others?
			was, had = first[name]
		}
		if had || has { // else only the session's first call had it, and so had this one
			lines = append(lines, changeLines(name, call.Env[name], was, had, is, has)...)
		}
	}
	return bounded(lines)
}

// bounded leaves out what nobody would read, and says so.
func bounded(lines []string) []string {
	size := 0
	for i, l := range lines {
		if size += len(l); size > maxEnvironment {
			return append(lines[:i:i], fmt.Sprintf("%s%d more are not shown: there is too much to read", cutEnvironment, len(lines)-i))
		}
	}
	return lines
}

// cutEnvironment begins the line that stands for what a card leaves out.
const cutEnvironment = "CUT: "

// changeLines says what one variable is, and was.
func changeLines(name, value string, was setting, had bool, is setting, has bool) []string {
	label := OneLine(name)
	if plain, compared := strings.CutPrefix(name, ComparedEnv); compared {
		label = showValue(strings.TrimPrefix(plain, ComparedEnv)) // anybody's name
	}
	known := (!has || is.Shown != "") && (!had || was.Shown != "") // not only its hash
	switch {
	case name == "PATH":
		return pathLines(was.Dirs, is.Dirs, had)
	case has && had && was.Hash == is.Hash:
		if alwaysShown(name, value) {
			return []string{label + "=" + is.Shown}
		}
		return nil
	case !known && has && had:
		return []string{label + " has another value (neither is shown)"}
	case !known && has:
		return []string{label + " is set (was unset; its value is not shown)"}
	case !known:
		return []string{label + " is unset (was set)"}
	case has && !had:
		return []string{label + "=" + is.Shown + " (was unset)"}
	case has:
		return []string{label + "=" + is.Shown + " (was " + was.Shown + ")"}
	}
	return []string{label + " is unset (was " + was.Shown + ")"}
}

func toInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// shownSetting is what people see of one variable's value. Its name may be all that
// says that it is a secret.
func shownSetting(name, value string) string {
	if whole := Mask(name + "=" + value); strings.HasPrefix(whole, name+"=") {
		return showText(whole[len(name)+1:])
	}
	return showValue(value)
}

// showValue makes a value safe to see: on one line, secrets masked, in quotes where
// it could pass for more than a value.
func showValue(value string) string { return showText(Mask(value)) }

// showText is showValue for a text that is masked already.
func showText(text string) string {
	text = OneLine(text)
	if len(text) > maxShown {
		head, tail := runeBoundary(text, maxShown*2/3), runeBoundary(text, len(text)-maxShown/4)
		text = fmt.Sprintf("%s… %d bytes hidden …%s", text[:head], tail-head, text[tail:])
	}
	if text == "" || strings.ContainsAny(text, " ()\"·") {
		text = `"` + strings.ReplaceAll(text, `"`, `\"`) + `"`
	}
	return text
}

// hidesEnvironment reports that a line does not show the whole of what runs: a
// value that was cut, or a secret's form in the place of a path or a program.
func hidesEnvironment(lines []string) bool {
	return slices.ContainsFunc(lines, func(l string) bool {
		return strings.HasPrefix(l, cutEnvironment) || strings.Contains(l, " bytes hidden …") ||
			strings.Contains(urlPassword.ReplaceAllString(l, ""), hiddenWords) && !strings.HasPrefix(l, "AWS_ACCESS_KEY_ID")
	})
}

// urlPassword is a hidden password in an address. Its host stands behind it, in sight.
var urlPassword = regexp.MustCompile(`://[^\s/‹›]*:‹[^›]*›@`)

// pathLines says which folders of PATH are new, and which of those that come before
// the system's others can write to.
func pathLines(was, is string, had bool) []string {
	var lines []string
	for dir := range strings.SplitSeq(is, ":") {
		if systemDir(dir) {
			break
		}
		if why := writableByOthers(dir); why != "" && is != "" {
			lines = append(lines, "PATH begins with "+showValue(dir)+", "+why)
		}
	}
	if !had || was == is {
		return lines
	}
	old := strings.Split(was, ":")
	var added []string
	for dir := range strings.SplitSeq(is, ":") {
		if !slices.Contains(old, dir) {
			added = append(added, showValue(dir))
		}
	}
	if len(added) > 0 {
		return append(lines, "PATH has new folders: "+strings.Join(added, ", "))
	}
	first, _, _ := strings.Cut(is, ":")
	return append(lines, "PATH has another order, or fewer folders: it begins with "+showValue(first))
}

func systemDir(dir string) bool {
	switch dir {
	case "/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin":
		return true
	}
	return false
}

// writableByOthers says why others may put programs into a folder, or "".
func writableByOthers(dir string) string {
	if !path.IsAbs(dir) {
		return "a relative folder"
	}
	for _, tmp := range []string{"/tmp", "/var/tmp", "/dev/shm"} {
		if clean := path.Clean(dir); clean == tmp || strings.HasPrefix(clean, tmp+"/") {
			return "a folder for temporary files"
		}
	}
	if info, err := os.Stat(dir); err == nil && info.Mode().Perm()&0o002 != 0 && info.Mode()&fs.ModeSticky == 0 {
		return "which everybody can write to"
	}
	return ""
}

// alwaysShown reports a variable that makes other code run, or says where a command
// acts: people see it on every card, because they may not have seen an earlier one.
// What many have set by honest tools, such as LESSOPEN, is shown when it changes.
func alwaysShown(name, value string) bool {
	switch name {
	case "GCONV_PATH", "BASH_ENV", "ENV", "PROMPT_COMMAND", "PS4", "IFS", "PYTHONSTARTUP", "PYTHONHOME", "PERL5OPT", "PERL5DB", "RUBYOPT", "LUA_INIT",
		"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "RUSTC_WRAPPER", "npm_config_script_shell", "PHP_INI_SCAN_DIR",
		"GIT_SSH", "GIT_SSH_COMMAND", "GIT_EXEC_PATH", "GIT_EXTERNAL_DIFF", "GIT_PROXY_COMMAND", "GIT_TEMPLATE_DIR", "GIT_DIR", "GIT_WORK_TREE":
		return true
	case "KUBECONFIG", "DOCKER_HOST", "DOCKER_CONTEXT", "AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_CONFIG_FILE", "CLOUDSDK_ACTIVE_CONFIG_NAME",
		"CLOUDSDK_CORE_PROJECT", "GOOGLE_CLOUD_PROJECT", "GOOGLE_APPLICATION_CREDENTIALS", "AZURE_SUBSCRIPTION_ID", "ARM_SUBSCRIPTION_ID",
		"HELM_KUBECONTEXT", "HELM_NAMESPACE", "TF_WORKSPACE", "PGHOST", "PGSERVICE", "PGDATABASE", "MYSQL_HOST", "VAULT_ADDR", "DATABASE_URL":
		return true
	case "NODE_OPTIONS":
		return strings.Contains(value, "-r") || strings.Contains(value, "--import") || strings.Contains(value, "loader")
	}
	for _, prefix := range []string{"LD_", "DYLD_", "BASH_FUNC_", "GIT_CONFIG", "AWS_ENDPOINT_URL"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
