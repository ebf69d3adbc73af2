#!/usr/bin/env bash
# progress.sh COMMAND...   runs a `go build -v` and shows how far it is: packages compiled and time, on one line of a
# terminal, or a line every half minute elsewhere. What is no package name (errors) is passed on.
set -uo pipefail

tty=
if [ -t 2 ] && [ "${TERM:-dumb}" != dumb ]; then tty=1; fi

# read -t, because the compiler may be busy with one package, and the linker prints nothing.
show() {
	local packages=0 said=0 line status
	while :; do
		status=0
		IFS= read -r -t 1 line || status=$?
		if ((status == 0)); then
			if [[ $line =~ ^[A-Za-z0-9_./@~+-]+$ ]]; then
				packages=$((packages + 1))
			else
				if [ -n "$tty" ]; then printf '\r\e[K' >&2; fi
				printf '%s\n' "$line" >&2
			fi
		elif ((status <= 128)); then
			break
		fi
		if [ -n "$tty" ]; then
			printf '\r    %d packages compiled, %d s\e[K' "$packages" "$SECONDS" >&2
		elif ((SECONDS >= said + 30)); then
			said=$SECONDS
			printf '    %d packages compiled, %d s\n' "$packages" "$SECONDS" >&2
		fi
	done
	if [ -n "$tty" ]; then printf '\r\e[K' >&2; fi
	printf '    %d packages compiled in %d s\n' "$packages" "$SECONDS" >&2
}

"$@" 2>&1 >/dev/null | show
exit "${PIPESTATUS[0]}"
