// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"github.com/pfs-exporter/pfs_exporter/rules"
)

// Config says how the stack runs the configuration that deploy/ ships.
type Config struct {
	// Dir is where everything is written; it exists.
	Dir string
	// Programs are the paths of what is started.
	Exporter, Prometheus, Alertmanager string
	// Deploy is the directory deploy/ of this repository.
	Deploy string
	// Scrape is how often Prometheus scrapes, Evaluate how often it evaluates the rules.
	Scrape, Evaluate time.Duration
	// Rules says how the rules are made.
	Rules rules.Options
	// Ports asks for the programs' own ports where they are free, for people; tests take any.
	Ports bool
}

// replacement is a line of a shipped file that a short run needs otherwise.
type replacement struct{ old, new string }

// adapt replaces every old by its new in a shipped file. A missing one is an error: the file has changed, and the rest
// of this program would run something else than it says.
func adapt(file string, replacements ...replacement) (string, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	text := string(raw)
	for _, r := range replacements {
		if !strings.Contains(text, r.old) {
			return "", fmt.Errorf("%s has no %q any more", file, r.old)
		}
		text = strings.ReplaceAll(text, r.old, r.new)
	}
	return text, nil
}

// prometheusConfig writes the shipped configuration, with these addresses and this interval, and the rules into dir.
func (c Config) prometheusConfig(dir, prometheus, alertmanager string, servers map[string]string) error {
	text, err := adapt(filepath.Join(c.Deploy, "prometheus.yml"),
		replacement{"scrape_interval: 30s", "scrape_interval: " + model.Duration(c.Scrape).String()},
		replacement{"scrape_timeout: 20s", "scrape_timeout: " + model.Duration(c.Scrape).String()},
		replacement{"evaluation_interval: 30s", "evaluation_interval: " + model.Duration(c.Evaluate).String()},
		replacement{"127.0.0.1:9090", prometheus},
		replacement{"127.0.0.1:9093", alertmanager})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(dir, "targets"), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "prometheus.yml"), []byte(text), 0o644); err != nil {
		return err
	}
	if err := writeTargets(dir, servers); err != nil {
		return err
	}
	return c.writeRules(filepath.Join(dir, "rules"))
}

// writeTargets writes the files of file_sd: the metadata servers, by their names, and the others.
func writeTargets(dir string, servers map[string]string) error {
	text := map[string]string{"mds.yml": "", "oss.yml": ""}
	for name, address := range servers {
		file := "oss.yml"
		if strings.HasPrefix(name, "mds") {
			file = "mds.yml"
		}
		text[file] += "- targets: ['" + address + "']\n"
	}
	for file, t := range text {
		if t == "" {
			t = "[]\n"
		}
		if err := os.WriteFile(filepath.Join(dir, "targets", file), []byte(t), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// writeRules writes the rule files.
func (c Config) writeRules(dir string) error {
	files, err := rules.Files(c.Rules)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// alertmanagerConfig writes the shipped configuration, with waits that suit a run of minutes.
func (c Config) alertmanagerConfig(file string) error {
	text, err := adapt(filepath.Join(c.Deploy, "alertmanager.yml"),
		replacement{"group_wait: 30s", "group_wait: 1s"}, replacement{"group_interval: 5m", "group_interval: 5s"})
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text), 0o644)
}
