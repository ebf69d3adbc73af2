#!/usr/bin/env bash
# What `make run` does after building: starts ./pfs_exporter on 127.0.0.1, and beside it, on a machine
# without Lustre, the simulator. Ctrl-C ends both and removes what the simulator wrote.
#
#   ARGS      more flags for pfs_exporter      ARGS='--lustre.scrape-interval=15s' make run
#   SIM_ARGS  more flags for lustre-simulator  SIM_ARGS='--users=500' make run
#   PORT      the port (9169 or the next free)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly exporter=./pfs_exporter simulator=.build/bin/lustre-simulator
pids=()
dir=

# Ends what was started, by process id, however this script ends.
cleanup() {
	trap - EXIT INT TERM HUP
	for pid in "${pids[@]}"; do kill -TERM "$pid" 2>/dev/null || true; done
	for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null || true; done
	if [ -n "$dir" ]; then rm -rf "$dir"; fi
}
trap cleanup EXIT
trap 'echo; echo "stopping"; cleanup; exit 0' INT TERM HUP

die() {
	echo "run.sh: $*" >&2
	exit 1
}

# Whether anybody listens on that port of 127.0.0.1; bash's own /dev/tcp, so that no tool is needed.
in_use() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

free_port() {
	local port
	for ((port = 9169; port < 9269; port++)); do
		if ! in_use "$port"; then
			echo "$port"
			return
		fi
	done
	die 'no free port from 9169 to 9268; give one as PORT'
}

# Whether the exporter answers 200.
ready() {
	local line
	{
		exec 3<>"/dev/tcp/127.0.0.1/$port" || return 1
		printf 'GET /-/ready HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n' >&3
		read -r -t 5 line <&3 || line=
		exec 3>&-
	} 2>/dev/null
	[[ $line == HTTP/1.*\ 200\ * ]]
}

# wait_for WHAT SECONDS PID COMMAND... repeats the command until it succeeds or the process is gone.
wait_for() {
	local what=$1 deadline=$((SECONDS + $2)) pid=$3
	shift 3
	until "$@"; do
		kill -0 "$pid" 2>/dev/null || die "$what: the process ended, see above"
		((SECONDS < deadline)) || die "$what: no sign of life in time"
		sleep 0.1
	done
}

tree_exists() { compgen -G "$dir/proc/fs/lustre/*/*/job_stats" >/dev/null; }

# shellcheck disable=SC2206 # ARGS and SIM_ARGS are lists of words
args=(${ARGS:-}) sim_args=(${SIM_ARGS:-})
port=${PORT:-$(free_port)}
if in_use "$port"; then die "port $port is in use; give another as PORT"; fi

if compgen -G '/proc/fs/lustre/*/*/job_stats' >/dev/null; then
	echo 'reading the Lustre targets of this machine'
else
	dir=$(mktemp -d "${TMPDIR:-/tmp}/lustre-simulator.XXXXXX")
	echo "no Lustre targets on this machine: simulating some in $dir"
	"$simulator" --root="$dir" "${sim_args[@]}" &
	pids+=($!)
	wait_for 'simulator' 60 $! tree_exists
	args=(--path.procfs="$dir/proc" --path.sysfs="$dir/sys" "${args[@]}")
fi

"$exporter" --web.listen-address="127.0.0.1:$port" "${args[@]}" &
pids+=($!)
wait_for 'exporter' 60 $! ready

cat <<EOF

  http://127.0.0.1:$port/metrics

Ctrl-C ends it.
EOF

# Whichever ends first ends the other; interrupted by the traps above.
status=0
wait -n "${pids[@]}" || status=$?
echo 'run.sh: a process ended by itself, see above' >&2
exit "$((status == 0 ? 1 : status))"
