// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// Ports of the programs, where Config.Ports asks for them.
const (
	prometheusPort   = 9090
	alertmanagerPort = 9093
	exporterPort     = 9169
)

// startup is how long a program may take until it answers.
const startup = time.Minute

// Stack is what was started.
type Stack struct {
	cfg        Config
	processes  []*Process
	taken      map[int]bool
	Exporters  map[string]*Exporter // by server
	Prometheus Prometheus
	Alerts     Alertmanager
	// The processes behind them, for their ids.
	PrometheusProcess, AlertmanagerProcess *Process
}

// Exporter is the exporter of one server.
type Exporter struct {
	*Process
	// Address is host:port.
	Address string
	root    string
	args    []string
}

// NewStack starts nothing yet.
func NewStack(cfg Config) *Stack {
	return &Stack{cfg: cfg, taken: make(map[int]bool), Exporters: make(map[string]*Exporter)}
}

// StartExporter starts the exporter of a server whose tree is root (Servers.Root), with more flags where given. A name
// that begins with mds makes it a metadata server for Prometheus.
func (s *Stack) StartExporter(ctx context.Context, server, root string, args ...string) error {
	address, err := s.address(exporterPort)
	if err != nil {
		return err
	}
	e := &Exporter{Address: address, root: root, args: args}
	s.Exporters[server] = e
	return s.startExporter(ctx, server, e)
}

// RestartExporter starts the exporter of a server again, at the same address, after its process was stopped.
func (s *Stack) RestartExporter(ctx context.Context, server string) error {
	return s.startExporter(ctx, server, s.Exporters[server])
}

func (s *Stack) startExporter(ctx context.Context, server string, e *Exporter) error {
	args := append([]string{
		"--web.listen-address=" + e.Address,
		"--path.procfs=" + filepath.Join(e.root, "proc"), "--path.sysfs=" + filepath.Join(e.root, "sys"),
		"--lustre.scrape-interval=" + s.cfg.Scrape.String(),
		"--lustre.observation-interval=" + min(time.Second, s.cfg.Scrape/4).String(),
	}, e.args...)
	p, err := s.start(ctx, "exporter of "+server, "exporter-"+server+".log", func(ctx context.Context) bool {
		return ready(ctx, "http://"+e.Address)
	}, s.cfg.Exporter, args...)
	e.Process = p
	return err
}

// Start starts Alertmanager, then Prometheus with the exporters that were started.
func (s *Stack) Start(ctx context.Context, prometheusArgs ...string) error {
	alertmanager, err := s.address(alertmanagerPort)
	if err != nil {
		return err
	}
	prometheus, err := s.address(prometheusPort)
	if err != nil {
		return err
	}
	s.Prometheus, s.Alerts = Prometheus("http://"+prometheus), Alertmanager("http://"+alertmanager)

	config := filepath.Join(s.cfg.Dir, "alertmanager.yml")
	if err := s.cfg.alertmanagerConfig(config); err != nil {
		return fmt.Errorf("configuring Alertmanager: %w", err)
	}
	if s.AlertmanagerProcess, err = s.start(ctx, "Alertmanager", "alertmanager.log", s.Alerts.Ready, s.cfg.Alertmanager,
		"--config.file="+config, "--storage.path="+filepath.Join(s.cfg.Dir, "alertmanager"),
		"--web.listen-address="+alertmanager, "--cluster.listen-address="); err != nil {
		return err
	}

	dir := filepath.Join(s.cfg.Dir, "prometheus")
	servers := make(map[string]string)
	for name, e := range s.Exporters {
		servers[name] = e.Address
	}
	if err := s.cfg.prometheusConfig(dir, prometheus, alertmanager, servers); err != nil {
		return fmt.Errorf("configuring Prometheus: %w", err)
	}
	args := append([]string{
		"--config.file=" + filepath.Join(dir, "prometheus.yml"), "--storage.tsdb.path=" + filepath.Join(dir, "data"),
		"--web.listen-address=" + prometheus, "--rules.alert.resend-delay=" + s.cfg.Scrape.String(),
	}, prometheusArgs...)
	s.PrometheusProcess, err = s.start(ctx, "Prometheus", "prometheus.log", s.Prometheus.Ready, s.cfg.Prometheus, args...)
	return err
}

func (s *Stack) start(ctx context.Context, name, log string, ok func(context.Context) bool, program string, args ...string) (*Process, error) {
	p, err := Start(name, filepath.Join(s.cfg.Dir, log), program, args...)
	if err != nil {
		return nil, err
	}
	s.processes = append(s.processes, p)
	ctx, cancel := context.WithTimeoutCause(ctx, startup, fmt.Errorf("not within %v", startup))
	defer cancel()
	return p, p.WaitUntil(ctx, ok)
}

// Failed says which of what should be running has ended.
func (s *Stack) Failed() error {
	for _, p := range []*Process{s.PrometheusProcess, s.AlertmanagerProcess} {
		if err := p.Err(); err != nil {
			return err
		}
	}
	for e := range maps.Values(s.Exporters) {
		if err := e.Err(); err != nil {
			return err
		}
	}
	return nil
}

// Stop ends everything that was started, the last first, and returns when it is gone.
func (s *Stack) Stop() error {
	var errs []error
	for i := len(s.processes) - 1; i >= 0; i-- {
		errs = append(errs, s.processes[i].Stop())
	}
	s.processes = nil
	return errors.Join(errs...)
}

// address chooses where a program listens: its own port or a later one for people, any other for tests.
func (s *Stack) address(port int) (string, error) {
	if !s.cfg.Ports {
		return freeAddress(0)
	}
	for p := port; p < port+100; p++ {
		if s.taken[p] {
			continue
		}
		if address, err := freeAddress(p); err == nil {
			s.taken[p] = true
			return address, nil
		}
	}
	return "", fmt.Errorf("no free port from %d to %d", port, port+99)
}

// freeAddress finds out whether the port, or with 0 which one, is free now. Another program may take it before ours does;
// then ours says so and ends.
func freeAddress(port int) (string, error) {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// TempDir makes the directory that everything is written to, and a function that removes it.
func TempDir() (string, func() error, error) {
	dir, err := os.MkdirTemp("", "pfs_exporter-demo.")
	return dir, func() error { return os.RemoveAll(dir) }, err
}

// Dir is where everything is written.
func (s *Stack) Dir() string { return s.cfg.Dir }
