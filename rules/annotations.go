// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"
	"strings"
)

// The texts of annotations, in Prometheus' own template language. What users choose, job identifiers above all, is shown
// with every byte replaced that a shell, a chat or a mail reader could obey; a command is made of digits and a target's
// name alone.

// inert shows the text of a label.
func inert(label string) string {
	return `{{ reReplaceAll "[^0-9A-Za-z_.@:-]" "_" ` + label + ` }}`
}

// ranking is what users of a target are ordered by, and which raw counters show their jobs. Arguments are those of
// printf: %q writes any text as a PromQL string.
type ranking struct {
	top, topArgs string // users by share
	raw, rawArgs string // selector without its end; the last argument is the uid
	unit         string // behind the rate of a job
}

func (o Options) ranking(by string) (ranking, error) {
	w := promDuration(o.Window)
	share := func(user, target, selector string) string {
		return fmt.Sprintf(`%s:rate%s{%s,uid!~"%s"} / ignoring (uid) group_left () %s:rate%s{%s}`, user, w, selector, noUsers, target, w, selector)
	}
	operations := fmt.Sprintf(`lustre_job_operations_total{operation!~"%s",target=%%q,uid=%%q`, renames)
	switch by {
	case "metadata":
		return ranking{`uid_target:lustre_metadata_load:share{target=%q}`, `$labels.target`, operations, `$labels.target`, "/s"}, nil
	case "time":
		return ranking{
			share("uid_target:lustre_server_seconds", "target:lustre_server_seconds", `target=%[1]q`), `$labels.target`,
			operations, `$labels.target`, "/s",
		}, nil
	case "bytes":
		return ranking{
			`uid_target_operation:lustre_bytes:share{operation=%q,target=%q}`, `$labels.operation $labels.target`,
			`lustre_job_%s_bytes_total{target=%q,uid=%q`, `$labels.operation $labels.target`, "B/s",
		}, nil
	case "requests":
		return ranking{
			share("uid_target_operation:lustre_operations", "target_operation:lustre_operations", `operation=%[1]q,target=%[2]q`), `$labels.operation $labels.target`,
			`lustre_job_operations_total{operation=%q,target=%q,uid=%q`, `$labels.operation $labels.target`, "/s",
		}, nil
	case "filesystem": // bytes of a user on all targets of a file system
		return ranking{
			raw: `lustre_job_%s_bytes_total{target=~%q,uid=%q`, rawArgs: `$labels.operation (printf "%s-OST[0-9a-f]{4}" $labels.fs)`, unit: "B/s",
		}, nil
	}
	return ranking{}, fmt.Errorf("%w: no ranking by %q", ErrOptions, by)
}

// oneLine joins the lines of a template text.
func oneLine(text string) string { return strings.NewReplacer("\n", "", "\t", "").Replace(text) }

// users lists the three heaviest users of the alert's target with their shares, jobs and nodes.
func (o Options) users(by string) (string, error) {
	r, err := o.ranking(by)
	if err != nil {
		return "", err
	}
	return oneLine(`{{ range $i, $user := query (printf "sort_desc(topk(3, ` + quoteInside(r.top) + `))" ` + r.topArgs + `) }}
{{ if $i }}; {{ end }}uid ` + inert("$user.Labels.uid") + ` {{ humanizePercentage $user.Value }}: ` + o.jobList(r, "$user.Labels.uid") + `{{ end }}`), nil
}

// jobs lists the heaviest jobs of the alert's user with their nodes.
func (o Options) jobs(by string) (string, error) {
	r, err := o.ranking(by)
	if err != nil {
		return "", err
	}
	return oneLine(o.jobList(r, "$labels.uid")), nil
}

// jobList lists the two heaviest jobs of a user, each with its three heaviest nodes. Whoever has no job is told by the
// executable, where the format gives it.
func (o Options) jobList(r ranking, uid string) string {
	rate := func(end string) string {
		return `rate(` + quoteInside(r.raw) + end + `}[` + promDuration(o.Window) + `])`
	}
	byNode := `sum by (nodename) (` + rate(`,jobid=%q,executable=%q`) + `) > 0`
	jobArgs := r.rawArgs + ` ` + uid
	nodeArgs := jobArgs + ` $job.Labels.jobid $job.Labels.executable`
	unit, format := r.unit, "humanize"
	if unit == "B/s" {
		format = "humanize1024"
	}
	return `{{ range $j, $job := query (printf "sort_desc(topk(2, sum by (jobid, executable) (` + rate("") + `) > 0))" ` + jobArgs + `) }}
{{ if $j }}, {{ end }}{{ if $job.Labels.jobid }}job ` + inert("$job.Labels.jobid") + `{{ else }}no job{{ end }}
{{ if $job.Labels.executable }} ` + inert("$job.Labels.executable") + `{{ end }} {{ ` + format + ` $job.Value }}` + unit + ` on
{{ range query (printf "sort_desc(topk(3, ` + byNode + `))" ` + nodeArgs + `) }} ` + inert(".Labels.nodename") + `{{ end }}
{{ range query (printf "count(` + byNode + `) > 3" ` + nodeArgs + `) }} (of {{ .Value }} nodes){{ end }}{{ end }}`
}

// quoteInside makes PromQL fit into a quoted string of a template.
func quoteInside(promql string) string { return strings.ReplaceAll(promql, `"`, `\"`) }

// server names the servers that show the target now.
const server = `{{ range $i, $up := query (printf "lustre_target_info{target=%q}" $labels.target) }}{{ if $i }} {{ end }}{{ reReplaceAll "[^0-9A-Za-z_.:-]" "_" $up.Labels.instance }}{{ end }}`

// services are Lustre's request services by kind of target: the parameter, and requests per second that let a user go on
// working without hurting others.
var services = map[string]struct {
	param string
	rate  int
}{
	"MDT": {"mds.MDS.mdt", 200},
	"OST": {"ost.OSS.ost_io", 100},
}

// command throttles whatever condition names. A rule's name is at most 15 letters, digits and _ (MAX_TBF_NAME in
// nrs_tbf.c): a letter and the uid's at most 10 digits, or the job id's first 14.
func command(kind, name, condition string) string {
	s := services[kind]
	return fmt.Sprintf(`lctl set_param %s.nrs_tbf_rule="start %s %s rate=%d"`, s.param, name, condition, s.rate)
}

func isTarget(kind string) string {
	return `(match "^[0-9A-Za-z_-]+-` + kind + `[0-9a-f]{4}$" $labels.target)`
}

const (
	isUID = `(match "^[1-9][0-9]{0,9}$" %s)` // never root, never a pseudonym
	isJob = `(match "^[0-9]{1,14}$" %s)`
)

// commandFor is the command that throttles a user, for a user that is a number on a target with a plain name, and
// nothing otherwise.
func commandFor(kind, uid string) string {
	value := "{{ " + uid + " }}"
	return `{{ if and ` + fmt.Sprintf(isUID, uid) + ` ` + isTarget(kind) + ` }}` +
		command(kind, "u"+value, `uid={{ "{" }}`+value+`{{ "}" }}`) + ` # on the server of {{ $labels.target }}{{ end }}`
}

// throttle is the command for the alert's user.
func throttle(kind string) string { return commandFor(kind, "$labels.uid") }

// throttles is the command for the heaviest user of the alert's target, where that is a user worth throttling.
func (o Options) throttles(kind, by string) (string, error) {
	r, err := o.ranking(by)
	if err != nil {
		return "", err
	}
	return `{{ range query (printf "topk(1, ` + quoteInside(r.top) + ` > scalar(lustre:threshold:user_metadata_share))" ` + r.topArgs + `) }}` + commandFor(kind, ".Labels.uid") + `{{ end }}`, nil
}

// more is the command for the heaviest job alone of the alert's user. It names the user too, because anybody can claim
// another's job id. The condition is right for identifiers that begin with the job id and a colon, as the default format
// has it.
func (o Options) more(kind, by string) (string, error) {
	r, err := o.ranking(by)
	if err != nil {
		return "", err
	}
	condition := `uid={{ "{" }}{{ $labels.uid }}{{ "}" }}&jobid={{ "{" }}{{ .Labels.jobid }}:*{{ "}" }}`
	return `{{ range query (printf "topk(1, sum by (jobid) (rate(` + quoteInside(r.raw) + `}[` + promDuration(o.Window) + `])) > 0)" ` + r.rawArgs + ` $labels.uid) }}` +
		`{{ if and ` + fmt.Sprintf(isUID, "$labels.uid") + ` ` + fmt.Sprintf(isJob, ".Labels.jobid") + ` ` + isTarget(kind) + ` }}` +
		command(kind, "j{{ .Labels.jobid }}", condition) + ` # on the server of {{ $labels.target }}{{ end }}{{ end }}`, nil
}
