package policies

import (
	"approver.example/configs"
	"approver.example/shieldcore"
)

// LoadPolicy loads a policy by its file or preset.
func LoadPolicy(name string) (*shieldcore.Policy, error) {
	c := configs.Default()
	c.Policy = name
	return c.LoadPolicy()
}
