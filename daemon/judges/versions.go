package judges

import (
	"time"

	"approver.example/configs"
	"approver.example/daemon/adminapi"
)

// NotInForce returns the standards whose files are not in force.
func (j *Judges) NotInForce() (out []adminapi.NotInForce) {
	for _, s := range []adminapi.NotInForce{
		{What: j.policies.spec.noun, Why: j.policies.unused.text()}, {What: j.rules.spec.noun, Why: j.rules.unused.text()},
		{What: j.flows.spec.noun, Why: j.flows.unused.text()},
	} {
		if s.Why != "" {
			out = append(out, s)
		}
	}
	return out
}

// Versions returns the versions in force.
func (j *Judges) Versions() *adminapi.Versions {
	return &adminapi.Versions{Policy: j.Policy.Version(), Rules: j.rules.active.Version(), Flow: j.flows.active.Version()}
}

// VersionsOf returns the versions of the files of a configuration.
func VersionsOf(cfg configs.Config) (v adminapi.Versions, err error) {
	policy, err := cfg.LoadPolicy()
	if err != nil {
		return v, err
	}
	rules, err := cfg.LoadLibrary(time.Now())
	if err != nil {
		return v, err
	}
	flow, err := cfg.Flow()
	if err != nil {
		return v, err
	}
	return adminapi.Versions{Policy: policy.Version(), Rules: rules.Version(), Flow: flow.Version()}, nil
}
