#!/usr/bin/env bash
# golden.sh update   writes the golden files anew
# golden.sh check    does so and fails if that changed any (the new ones stay, to be looked at)
#
# The check compares with a copy rather than with git, so that it works on uncommitted work and
# outside git, and sees golden files that nobody has added yet.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
go=${GO:-go}

# Test binaries reject flags they do not define: only packages with an -update flag are asked.
packages() { # packages ROOT...
	grep -rlE --include='*_test.go' 'flag\.Bool(Var)?\(.*"update"' "$@" 2>/dev/null |
		sed 's|/[^/]*$||' | sort -u || true
}

regenerate() {
	local unit e2e
	unit=$(packages . | grep -v -e '^\./e2e' || true)
	e2e=$(packages ./e2e)
	if [ -z "$unit$e2e" ]; then
		echo 'no package has golden files'
		return
	fi
	# shellcheck disable=SC2086 # one word per package
	if [ -n "$unit" ]; then "$go" test -count 1 -run Golden $unit -update; fi
	# shellcheck disable=SC2086
	if [ -n "$e2e" ]; then "$go" test -count 1 -tags e2e -run Golden $e2e -update; fi
}

# Fuzz corpora are no golden files; a fuzz run may add to them.
copy_goldens() { # copy_goldens INTO
	find . -type f -path '*/testdata/*' -not -path '*/testdata/fuzz/*' -not -path './.build/*' -print0 |
		tar --null --files-from=- -cf - | tar -C "$1" -xf -
}

case "${1:-}" in
update) regenerate ;;
check)
	before=$(mktemp -d)
	after=$(mktemp -d)
	trap 'rm -rf "$before" "$after"' EXIT
	copy_goldens "$before"
	regenerate
	copy_goldens "$after"
	if ! diff -ruN "$before" "$after" | sed -e "s|^--- $before|--- committed|" -e "s|^+++ $after|+++ written|"; then
		echo 'golden files are not what the code writes: make golden, read the diff, commit it' >&2
		exit 1
	fi
	;;
*)
	echo "usage: $0 update|check" >&2
	exit 2
	;;
esac
