package calls

import (
	"net"
	"net/http"
	"time"
)

// Times of connections to a platform. A connection may be dead although neither end closed it:
// a NAT or a firewall forgot it, or the network changed. Then nothing arrives any more, and
// the kernel takes some fifteen minutes to say so.
const (
	dialWithin      = 10 * time.Second
	handshakeWithin = 10 * time.Second
	idleFor         = time.Minute // before an unused connection is closed
	// An HTTP/2 connection carries all calls. It is not closed because calls on it time out,
	// so that each next one would be made on the dead connection. It is asked for a sign of
	// life when it was silent for silentFor, and closed if none comes.
	silentFor  = 15 * time.Second
	signWithin = 5 * time.Second
	// writeWithin bounds how long an HTTP/2 connection may take no byte of what is sent.
	writeWithin = 10 * time.Second
	mostIdle    = 16
)

// Dialer makes the TCP connections to a platform, those below WebSockets too. The kernel asks
// an unused connection for a sign of life, and ends it after about half a minute without one.
func Dialer() *net.Dialer {
	return &net.Dialer{
		Timeout: dialWithin,
		KeepAliveConfig: net.KeepAliveConfig{
			Enable: true, Idle: silentFor, Interval: signWithin, Count: 3,
		},
	}
}

// Transport makes a transport for one platform, whose connections can be closed without
// affecting others. It notices a dead connection within half a minute. wait is how long the
// platform may take to answer a call.
func Transport(wait time.Duration) *http.Transport {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           Dialer().DialContext,
		TLSHandshakeTimeout:   handshakeWithin,
		ResponseHeaderTimeout: wait,
		IdleConnTimeout:       idleFor,
		MaxIdleConnsPerHost:   mostIdle,
		ForceAttemptHTTP2:     true,
		HTTP2: &http.HTTP2Config{
			SendPingTimeout: silentFor, PingTimeout: signWithin, WriteByteTimeout: writeWithin,
		},
	}
}

// NoRedirect makes an HTTP client follow no redirect, which would carry a token to another
// place.
func NoRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
