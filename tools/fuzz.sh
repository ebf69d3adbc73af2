#!/usr/bin/env bash
# Runs every fuzz target of the module for FUZZTIME, one after the other: go test -fuzz takes one
# target at a time. The targets are found by name, so a new one cannot be forgotten.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fuzztime=${FUZZTIME:-10s}
targets=$(grep -rnoE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*\(' . |
	sed -E 's|^(.*)/[^/]*:[0-9]+:func (Fuzz[A-Za-z0-9_]*)\($|\1 \2|' | sort -u || true)
if [ -z "$targets" ]; then
	echo 'no fuzz targets'
	exit 0
fi

failed=0
while read -r dir name; do
	echo "--- $dir $name ($fuzztime)"
	# A crash is written to testdata/fuzz of the package: commit it with its fix.
	# Without a bound, minimizing large interesting inputs takes the whole time.
	"${GO:-go}" test "$dir" -run TestNone -fuzz "^$name\$" -fuzztime "$fuzztime" -fuzzminimizetime 20x </dev/null || failed=1
done <<<"$targets"
exit $failed
