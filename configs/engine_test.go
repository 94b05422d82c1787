package configs_test

import (
	"sync"
	"testing"

	"approver.example/configs"
	"approver.example/reflexcore"
)

// builtIn are the built-in rules. They are compiled once: a set is not changed.
var builtIn = sync.OnceValues(func() (*reflexcore.Rules, error) {
	list, err := configs.DefaultRules()
	if err != nil {
		return nil, err
	}
	return reflexcore.Compile(list)
})

// newEngine returns an engine with the built-in rules.
func newEngine(t testing.TB) *reflexcore.Engine {
	t.Helper()
	rules, err := builtIn()
	if err != nil {
		t.Fatal(err)
	}
	engine, err := reflexcore.NewWith(rules, reflexcore.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return engine
}
