package callstest

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"sync/atomic"
	"testing"
	"time"
)

// A Front stands before a platform's fake, which speaks plain HTTP/1.1, and speaks TLS and
// HTTP/2 as the platform does. Addresses of WebSockets that the fake's API gives out lead through
// the front too.
type Front struct {
	Addr   string // host and port that the front is reached at, through its tunnel
	Tunnel *Tunnel
	Roots  *x509.CertPool // what its certificate is to be checked by

	shown atomic.Pointer[tls.Certificate]
}

// Show makes the front show another certificate from now on.
func (f *Front) Show(c Certificate) { f.shown.Store(&c.TLS) }

// NewFront opens a front with a certificate before the fake at an address. With the zero
// Certificate it speaks as the fake does. It ends with the test.
func NewFront(t testing.TB, fake string, cert Certificate) *Front {
	t.Helper()
	f, scheme := &Front{Roots: cert.roots}, "wss://"
	if cert.roots == nil {
		scheme = "ws://"
	}
	back := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: fake})
			r.Out.Host = ""
		},
		ModifyResponse: func(r *http.Response) error {
			if r.StatusCode == http.StatusSwitchingProtocols {
				return nil
			}
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return err
			}
			body = bytes.ReplaceAll(body, []byte("ws://"+fake), []byte(scheme+f.Addr))
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
			r.Header.Set("Content-Length", strconv.Itoa(len(body)))
			return nil
		},
		ErrorLog: log.New(io.Discard, "", 0),
	}
	srv := httptest.NewUnstartedServer(back)
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	if cert.roots == nil {
		srv.Start()
	} else {
		srv.EnableHTTP2 = true
		f.Show(cert)
		srv.TLS = &tls.Config{MinVersion: tls.VersionTLS12,
			GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
				return &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{*f.shown.Load()},
					NextProtos: []string{"h2", "http/1.1"}}, nil
			}}
		srv.StartTLS()
	}
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	f.Tunnel = NewTunnel(t, srv.Listener.Addr().String())
	f.Addr = f.Tunnel.Addr
	return f
}

// A Certificate is what a Front shows. The zero value is none.
type Certificate struct {
	TLS   tls.Certificate
	roots *x509.CertPool
}

// An Authority issues certificates.
type Authority struct {
	Roots *x509.CertPool // what its certificates are to be checked by
	cert  *x509.Certificate
	key   *ecdsa.PrivateKey
}

// NewAuthority makes an authority that nobody knows.
func NewAuthority() (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	form := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "an authority"},
		NotBefore: time.Now().AddDate(-1, 0, 0), NotAfter: time.Now().AddDate(1, 0, 0),
		KeyUsage: x509.KeyUsageCertSign, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, form, form, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AddCert(cert)
	return &Authority{roots, cert, key}, nil
}

// Issue makes a certificate for a name or an IP address, until a time.
func (a *Authority) Issue(t testing.TB, name string, until time.Time) Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "a platform"},
		NotBefore: until.Add(-24 * time.Hour), NotAfter: until, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if ip := net.ParseIP(name); ip != nil {
		form.IPAddresses = []net.IP{ip}
	} else {
		form.DNSNames = []string{name}
	}
	der, err := x509.CreateCertificate(rand.Reader, form, a.cert, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	return Certificate{tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, a.Roots}
}

// NewCertificate makes a certificate of an authority that nobody knows.
func NewCertificate(t testing.TB, name string, until time.Time) Certificate {
	t.Helper()
	a, err := NewAuthority()
	if err != nil {
		t.Fatal(err)
	}
	return a.Issue(t, name, until)
}
