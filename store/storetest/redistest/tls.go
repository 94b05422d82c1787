package redistest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// Files are the PEM files of a private authority: what a client needs to talk
// to a server with Options.TLS, and that server's own.
type Files struct {
	CA, Cert, Key         string // for clients
	ServerCert, ServerKey string

	pool   *x509.CertPool
	client tls.Certificate
}

// makeFiles makes an authority, whose key is forgotten at once, and one
// certificate for the server and one for clients, good for a day.
func makeFiles(dir string) (Files, error) {
	f := Files{
		CA: filepath.Join(dir, "ca.pem"), Cert: filepath.Join(dir, "client.pem"), Key: filepath.Join(dir, "client.key"),
		ServerCert: filepath.Join(dir, "server.pem"), ServerKey: filepath.Join(dir, "server.key"),
	}
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return f, err
	}
	ca := template("redistest authority")
	ca.IsCA, ca.BasicConstraintsValid, ca.KeyUsage = true, true, x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, ca, ca, caKey.Public(), caKey)
	if err != nil {
		return f, err
	}
	if err := writePEM(f.CA, "CERTIFICATE", der); err != nil {
		return f, err
	}
	root, err := x509.ParseCertificate(der)
	if err != nil {
		return f, err
	}
	f.pool = x509.NewCertPool()
	f.pool.AddCert(root)
	server := template("redistest server", x509.ExtKeyUsageServerAuth)
	server.IPAddresses, server.DNSNames = []net.IP{net.IPv4(127, 0, 0, 1)}, []string{"localhost"}
	if err := issue(f.ServerCert, f.ServerKey, server, root, caKey); err != nil {
		return f, err
	}
	if err := issue(f.Cert, f.Key, template("redistest client", x509.ExtKeyUsageClientAuth), root, caKey); err != nil {
		return f, err
	}
	f.client, err = tls.LoadX509KeyPair(f.Cert, f.Key)
	return f, err
}

func template(name string, usage ...x509.ExtKeyUsage) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: usage,
	}
}

// issue makes a key and has the authority sign a certificate for it.
func issue(certFile, keyFile string, cert, ca *x509.Certificate, caKey *ecdsa.PrivateKey) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, ca, key.Public(), caKey)
	if err != nil {
		return err
	}
	if err := writePEM(certFile, "CERTIFICATE", der); err != nil {
		return err
	}
	der, err = x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	return writePEM(keyFile, "PRIVATE KEY", der)
}

func writePEM(file, kind string, der []byte) error {
	return os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}
