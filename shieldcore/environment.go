package shieldcore

import (
	"regexp"
	"slices"
)

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

// environmentVariables name the environment that a command works in, where the
// courier sends them.
var environmentVariables = []string{
	"NODE_ENV", "RAILS_ENV", "RACK_ENV", "APP_ENV", "FLASK_ENV", "DJANGO_SETTINGS_MODULE", "ENVIRONMENT", "DEPLOY_ENV",
	"ENV",
	"AWS_PROFILE", "AWS_DEFAULT_PROFILE", "KUBECONFIG", "DOCKER_HOST", "DOCKER_CONTEXT", "CLOUDSDK_ACTIVE_CONFIG_NAME",
	"TF_WORKSPACE", "VERCEL_ENV",
}

// maxEnvironmentText bounds an argument that is looked at: names are short, and
// a document that mentions production is no mark.
const maxEnvironmentText = 256

// environments returns the environments of which a call shows marks: in
// variables, in the command, and in paths, addresses and short arguments. That
// nothing shows does not mean that it is none.
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
