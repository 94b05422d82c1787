package configs

import (
	"embed"
	"slices"
)

//go:embed policy.default.yaml policy.strict.yaml policy.permissive.yaml
var policies embed.FS

// PresetPrefix stands before the name of a built-in policy in Config.Policy.
const PresetPrefix = "preset:"

// Presets returns the names of the built-in policies.
func Presets() []string { return []string{"default", "strict", "permissive"} }

// Preset returns the text of a built-in policy.
func Preset(name string) (data []byte, ok bool) {
	if !slices.Contains(Presets(), name) {
		return nil, false
	}
	data, err := policies.ReadFile("policy." + name + ".yaml")
	return data, err == nil
}

// DefaultPolicyYAML returns the policy that is used when none is named.
func DefaultPolicyYAML() []byte {
	data, _ := Preset("default") // it is embedded
	return data
}
