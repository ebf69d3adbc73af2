#!/usr/bin/env bash
# What `make check-deploy` does: checks deploy/ with the rules as they would be installed, with promtool and amtool, and
# that alerts go where deploy/routes.tsv says.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

promtool=${PROMTOOL_BIN:-.build/bin/promtool} amtool=${AMTOOL_BIN:-.build/bin/amtool}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

cp -R deploy/. "$dir"
mkdir "$dir/rules"
cp rules/lustre-*.yml "$dir/rules"
"$promtool" check config --lint=all --lint-fatal "$dir/prometheus.yml"
"$amtool" check-config "$dir/alertmanager.yml"

failed=0
while IFS=$'\t' read -r receiver labels; do
	case $receiver in '' | '#'*) continue ;; esac
	# shellcheck disable=SC2086 # one word per label
	"$amtool" config routes test --config.file="$dir/alertmanager.yml" --verify.receivers="$receiver" $labels >"$dir/got" 2>&1 || {
		echo "deploy/routes.tsv: $labels: want $receiver, got $(tail -1 "$dir/got")" >&2
		failed=1
	}
done <deploy/routes.tsv
if ((failed)); then exit 1; fi
echo 'every route of deploy/routes.tsv is as it says'
