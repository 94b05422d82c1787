package configs_test

import "testing"

// NODE_OPTIONS="$NODE_OPTIONS --max-old-space-size=4096" was a question, because nobody knows what the old
// value is. It is in force already: only what is added counts.
func TestOptionsAreAdded(t *testing.T) {
	judge := verdicts(t)
	asks(t, judge, false, `
		NODE_OPTIONS="$NODE_OPTIONS --max-old-space-size=8192" npm run build
		NODE_OPTIONS="${NODE_OPTIONS:-} --openssl-legacy-provider" yarn build
		export NODE_OPTIONS="${NODE_OPTIONS} --no-warnings"; node app.js
		MAVEN_OPTS="$MAVEN_OPTS -Xss4m" mvn test
		RUBYOPT="$RUBYOPT -W0" bundle exec rake
		GOFLAGS="$GOFLAGS -mod=mod" go build ./...`)
	asks(t, judge, true, `
		NODE_OPTIONS="$NODE_OPTIONS --require ./evil.js" npm run build
		NODE_OPTIONS="$NODE_OPTIONS -r ./evil" node x.js
		NODE_OPTIONS="${NODE_OPTIONS:-} -r./evil" node x.js
		NODE_OPTIONS+=" -r ./evil"; npm test
		NODE_OPTIONS="--no-warnings -r ./evil" node x.js
		NODE_OPTIONS="$NODE_OPTIONS --inspect=0.0.0.0:9229" node x.js
		JDK_JAVA_OPTIONS="$JDK_JAVA_OPTIONS @/tmp/f" java A
		MAVEN_OPTS="$MAVEN_OPTS -Dmaven.ext.class.path=/tmp/evil.jar" mvn test
		CFLAGS="$CFLAGS -B/tmp/evil" make
		LDFLAGS="$LDFLAGS -fuse-ld=/tmp/evil" make
		RUSTFLAGS="$RUSTFLAGS -Clinker=evil" cargo build
		GOFLAGS="$GOFLAGS -modfile=/tmp/go.mod" go build
		NODE_OPTIONS="$NODE_OPTIONS $X" npm run build
		NODE_OPTIONS="$X" npm run build
		NODE_OPTIONS="${NODE_OPTIONS:---require ./evil.js}" npm run build
		NODE_OPTIONS="${NODE_OPTIONS:+--require ./evil.js}" npm run build
		NODE_OPTIONS="${NODE_OPTIONS/x/--require ./evil.js}" npm run build
		NODE_OPTIONS=$(cat x) ; NODE_OPTIONS="$NODE_OPTIONS --no-warnings" node app.js
		read NODE_OPTIONS < x; NODE_OPTIONS="$NODE_OPTIONS --no-warnings" node app.js
		. ./x.env; NODE_OPTIONS="$NODE_OPTIONS --no-warnings" node app.js`)
}
