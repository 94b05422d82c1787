package configs_test

import "testing"

// The name of an option behind `set -euo` was taken for the first parameter: `rm -rf "$1"` of a script was
// `rm -rf pipefail`, and passed.
func TestSetTakesTheNameOfAnOption(t *testing.T) {
	judge := verdicts(t)
	asks(t, judge, true, `
		set -euo pipefail; rm -rf "$1"
		set -eo pipefail; rm -rf "/etc/$1"
		set -euxo pipefail -- /etc/nginx; rm -rf "$1"
		set -- /etc/nginx; set -euo pipefail; rm -rf "$1"
		ENV=./evil.sh sh -i
		ENV=/tmp/evil make`)
	asks(t, judge, false, `
		set -euo pipefail; npm test
		set -euo pipefail; set -- build; rm -rf "$1"
		ENV=production make test
		export ENV=staging; npm run build`)
}
