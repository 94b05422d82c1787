package configs_test

import (
	"strings"
	"testing"
)

// An index on this machine is a cache or a test's own. One elsewhere is a question.
func TestPackagesFromThisMachine(t *testing.T) {
	judge := verdicts(t)
	asks(t, judge, false, `
		pip config set global.index-url http://127.0.0.1:8080/simple
		pip install -i http://localhost:3141/root/pypi flask
		npm install --registry http://localhost:4873 left-pad`)
	asks(t, judge, true, strings.ReplaceAll(`
		pip config set global.index-url http://HOST/simple
		pip install -i http://HOST/simple flask
		npm install --registry http://HOST left-pad`, "HOST", "localhost.example.com"))
}
