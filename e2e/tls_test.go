// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// hash is bcrypt's of "fakepassword".
const hash = "$2y$10$QOauhQNbBCuQDKes6eFzPeMqBSjb7Mr5DUmpZ/VcEd00UAV/LDeSi"

// selfSigned writes a certificate for 127.0.0.1 and its key.
func selfSigned(t *testing.T) (certFile, keyFile string, roots *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "pfs_exporter test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true, IsCA: true, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	roots = x509.NewCertPool()
	roots.AppendCertsFromPEM(certPEM)
	dir := t.TempDir()
	certFile = write(t, filepath.Join(dir, "cert.pem"), string(certPEM), 0o600)
	keyFile = write(t, filepath.Join(dir, "key.pem"), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})), 0o600)
	return certFile, keyFile, roots
}

func TestTLSAndBasicAuthentication(t *testing.T) {
	cert, key, roots := selfSigned(t)
	config := write(t, filepath.Join(t.TempDir(), "web.yml"), fmt.Sprintf(
		"tls_server_config:\n  cert_file: %s\n  key_file: %s\nbasic_auth_users:\n  prometheus: %s\n", cert, key, hash), 0o600)
	e := startExporter(t, "--web.config.file="+config, "--lustre.source=file", "--lustre.file="+filepath.Join(samples, "lctl_2.16_multi.txt"))
	url := strings.Replace(e.url, "http://", "https://", 1) + "/metrics"

	// net/http's server tells clients that speak plain HTTP so.
	if status, body, err := get(e.url + "/metrics"); err == nil && (status != http.StatusBadRequest || strings.Contains(body, "lustre_")) {
		t.Errorf("plain HTTP: status %d\n%s", status, tail(body))
	}
	for _, http2 := range []bool{false, true} {
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: http2}
		client := &http.Client{Transport: transport, Timeout: patience}
		f := func(user, password string, want int) {
			t.Helper()
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			if user != "" {
				request.SetBasicAuth(user, password)
			}
			request.Header.Set("X-Prometheus-Scrape-Timeout-Seconds", "10")
			r, err := client.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Body.Close()
			body, err := io.ReadAll(r.Body)
			if err != nil || r.StatusCode != want || (r.ProtoMajor == 2) != http2 {
				t.Errorf("%s, %s: status %d, want %d; %s, %v", user, password, r.StatusCode, want, r.Proto, err)
			}
			if shown := strings.Contains(string(body), "lustre_job_operations_total{"); shown != (want == http.StatusOK) {
				t.Errorf("%s, %s: metrics shown: %v", user, password, shown)
			}
		}
		f("", "", http.StatusUnauthorized)
		f("prometheus", "wrong", http.StatusUnauthorized)
		f("nobody", "fakepassword", http.StatusUnauthorized)
		f("prometheus", "fakepassword", http.StatusOK)
		transport.CloseIdleConnections()
	}
	stranger := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: x509.NewCertPool()}}, Timeout: patience}
	if r, err := stranger.Get(url); err == nil {
		r.Body.Close()
		t.Error("a client that does not know the certificate accepts it")
	}
}
