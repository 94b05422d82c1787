package shieldcore

import (
	"encoding/json"
	"errors"
	"regexp"
	"slices"

	"approver.example"
	"approver.example/internal/match"
	"approver.example/shieldcore/internal/leaves"
)

// A subject is one call while it is judged. It computes the facts that rules match once,
// and only if a rule needs them.
type subject struct {
	call approver.ToolCall
	home func(uid uint32) (string, bool)
	// sieve has the patterns of the policy.
	sieve *match.Sieve

	command []*text
	args    []*text
	argsErr error
	located []location
	homes   *homes
	links   map[string]link // cache of readlink

	content           []*text
	contentErr        error
	kinds             []string
	branches          []string
	branchesSure      bool
	foundEnvironments []string

	haveArgs, haveLocated, haveContent, haveBranches, haveEnvironments bool
}

// actions returns the call's kinds of action.
func (s *subject) actions() []string {
	if s.kinds == nil {
		s.kinds = ActionTypes(s.call)
	}
	return s.kinds
}

// commands returns the command as it is and, if different, normalized.
func (s *subject) commands() []*text {
	if s.command == nil {
		s.command = []*text{{raw: s.call.Command}}
		if n := normalize(s.call.Command); n != s.call.Command {
			s.command = append(s.command, &text{raw: n})
		}
	}
	return s.command
}

// texts returns every string value in the arguments.
func (s *subject) texts() ([]*text, error) {
	if !s.haveArgs {
		s.haveArgs = true
		s.args, s.argsErr = stringsIn(s.call.Args)
	}
	return s.args, s.argsErr
}

func stringsIn(args json.RawMessage) (out []*text, err error) {
	if len(args) == 0 {
		return nil, nil
	}
	err = leaves.Walk(args, leaves.MaxDepth, func(s leaves.Literal) error {
		if s.IsKey {
			return nil
		}
		raw, err := leaves.Text(args[s.Start:s.End])
		out = append(out, &text{raw: raw})
		return err
	})
	if err != nil {
		return nil, errors.New("the call's arguments are not JSON")
	}
	return out, nil
}

// contentKeys are the arguments with the new content, in tools that write files.
var contentKeys = []string{"content", "new_string", "new_source"}

// written returns the texts that a call would write or send. For tools that write files
// that is their content, and for tools that only read it is nothing. For every other
// tool it is all texts in the arguments, because it may write any of them.
func (s *subject) written() ([]*text, error) {
	if s.haveContent {
		return s.content, s.contentErr
	}
	s.haveContent = true
	switch toolActions[s.call.Tool] {
	case "read":
	case "write":
		var args any
		if len(s.call.Args) == 0 {
			break
		}
		if s.contentErr = json.Unmarshal(s.call.Args, &args); s.contentErr == nil {
			everyText(args, "", func(key, content string) bool {
				if slices.Contains(contentKeys, key) {
					s.content = append(s.content, &text{raw: content})
				}
				return true
			})
		}
	default:
		texts, err := s.texts()
		s.content, s.contentErr = slices.Clone(texts), err
		if s.call.Command != "" {
			s.content = append(s.content, s.commands()...)
		}
	}
	return s.content, s.contentErr
}

// environmentNames are the environments that rules can name.
var environmentNames = []string{"prod", "staging", "dev"}

// environmentMarks are the words that mark an environment, as whole words in
// names: prod-db.example, --context=prod, NODE_ENV=production, deploy/live/x.
var environmentMarks = []struct {
	name string
	re   *regexp.Regexp
}{
	{"prod", regexp.MustCompile(`(?i)(?:^|[^a-z0-9])(?:prod|prd|production|live)(?:[0-9]*)(?:[^a-z0-9]|$)`)},
	{"staging", regexp.MustCompile(`(?i)(?:^|[^a-z0-9])(?:staging|stage|stg|preprod|uat)(?:[0-9]*)(?:[^a-z0-9]|$)`)},
	{"dev", regexp.MustCompile(`(?i)(?:^|[^a-z0-9])(?:dev|development|local|localhost|test)(?:[0-9]*)(?:[^a-z0-9]|$)`)},
}

// environmentVariables are variables, sent by the courier, whose value may name the
// environment of a command.
var environmentVariables = []string{
	"NODE_ENV", "RAILS_ENV", "RACK_ENV", "APP_ENV", "FLASK_ENV", "DJANGO_SETTINGS_MODULE", "ENVIRONMENT", "DEPLOY_ENV",
	"ENV",
	"AWS_PROFILE", "AWS_DEFAULT_PROFILE", "KUBECONFIG", "DOCKER_HOST", "DOCKER_CONTEXT", "CLOUDSDK_ACTIVE_CONFIG_NAME",
	"TF_WORKSPACE", "VERCEL_ENV",
}

// maxEnvironmentText bounds the arguments that are searched for marks. Names are short; a
// document that mentions production is no mark.
const maxEnvironmentText = 256

// environments returns the environments that a call has marks of: in variables, in the
// command, and in paths, URLs and short arguments. A call without marks may still work
// in one.
func (s *subject) environments() []string {
	if s.haveEnvironments {
		return s.foundEnvironments
	}
	s.haveEnvironments = true
	var where []string
	for _, name := range environmentVariables {
		where = append(where, s.call.Env[name])
	}
	where = append(where, s.call.Command)
	where = append(append(where, s.call.Paths...), s.call.URLs...)
	if texts, err := s.texts(); err == nil {
		for _, t := range texts {
			if len(t.raw) <= maxEnvironmentText {
				where = append(where, t.raw)
			}
		}
	}
	for _, mark := range environmentMarks {
		if slices.ContainsFunc(where, mark.re.MatchString) {
			s.foundEnvironments = append(s.foundEnvironments, mark.name)
		}
	}
	return s.foundEnvironments
}
