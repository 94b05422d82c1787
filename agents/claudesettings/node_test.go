package claudesettings

import (
	"strings"
	"testing"
)

// Options of node that people really set take no hook away, by whatever spelling; those that
// load code, read or write a file, open a port or take something from the program are found,
// also behind and between harmless ones.
func TestOptionsOfNode(t *testing.T) {
	for _, harmless := range []string{
		"", "--experimental-strip-types", "--no-warnings", "--max-old-space-size=4096",
		"--max_old_space_size=4096", "--max-old-space-size 4096",
		"--enable-source-maps", "--no-warnings --experimental-strip-types --enable-source-maps",
		"--dns-result-order=ipv4first",
		"--dns-result-order ipv4first", "--disable-warning=ExperimentalWarning",
		"--disable-warning DEP0040 --no-deprecation",
		"--no-node-snapshot", "--expose-gc", "--openssl-legacy-provider", "--use-system-ca",
		"--experimental-vm-modules", "--trace-warnings",
		"--stack-trace-limit=100", "--tls-min-v1.2", "--max-http-header-size=65536",
		"--experimental-sqlite", "--experimental_transform_types",
		"  --no-warnings\t--trace-exit ", "--max-old-space-size-percentage=50", "--no-network-family-autoselection",
	} {
		if loadsInNode(strings.Fields(harmless)) {
			t.Errorf("%q is found", harmless)
		}
	}
	for _, bad := range []string{
		"--require ./x.js", "--require=./x.js", "-r ./x.js", "-r./x.js",
		"--import ./x.mjs", "--import=data:text/javascript,1",
		"--loader ./x.mjs", "--loader=x", "--experimental-loader=./x",
		"--no-warnings --require x", "--max-old-space-size=4096 -r x",
		"--max-old-space-size --require x", "--dns-result-order ipv4first x",
		"--dns-result-order=ipv4first x", "--dns-result-order ./x.js",
		"--no-warnings x", "x", "5", "--no-warnings 5",
		"\"--require\" x", "--no-warnings\\ --require", "--title=\"x --require y\"",
		"--inspect", "--inspect-brk", "--inspect=0.0.0.0:9229", "--inspect-wait",
		"--inspect-port=1", "--env-file=.env", "--env-file-if-exists=x",
		"--snapshot-blob=x", "--openssl-config=x", "--icu-data-dir=x", "--experimental-policy=x",
		"--experimental-permission", "--permission",
		"--allow-fs-read=*", "--redirect-warnings=x", "--diagnostic-dir=x",
		"--report-on-signal", "--heapsnapshot-signal=SIGUSR2",
		"--tls-keylog=x", "--conditions=x", "-C x", "--preserve-symlinks",
		"--experimental-default-type=module", "--input-type=module",
		"--watch", "--test", "--check", "-v", "--version", "--help",
		"--disable-proto=throw", "--jitless", "--no-addons",
		"--unhandled-rejections=none", "--throw-deprecation", "--abort-on-uncaught-exception", "--", "-",
		"=", "--=x", "--no-experimental-fetch",
		"--experimental-specifier-resolution=node", "--no-warnings=1 -r x", "--REQUIRE x",
		"--localstorage-file=x", "--max-old-space-size=1 \u00a0-r x",
	} {
		if !loadsInNode(strings.Fields(bad)) {
			t.Errorf("%q is not found", bad)
		}
	}
}
