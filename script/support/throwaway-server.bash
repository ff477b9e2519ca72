# What the throw-away servers have in common. A script that sources this sets
#   program         its own name, in messages
#   server_name     the server, in messages
#   server_users    users that it can run as, best first, if this script runs as root
#   stop_signals    what ends it, in the order tried; the first also when this shell is killed
#   restart         not empty: start it again when it ends before the command does
# defines
#   initialise      makes a new server's data in the folder
#   server_command  sets server_line, which runs the server in the folder on 127.0.0.1:$port
#   is_ready        whether it takes connections
#   announce        exports the server's address
# and calls run_with_server with the command.
# shellcheck shell=bash disable=SC2154

fail() {
  echo "$program: $*" >&2
  exit 1
}

folder=
server=
command=
as_server=()

# Both servers refuse to run as root.
choose_user() {
  local user
  server_user=
  ((EUID == 0)) || return 0
  for user in "${server_users[@]}"; do
    getent passwd "$user" >/dev/null || continue
    server_user=$user
    as_server=(setpriv --reuid "$user" --regid "$(id -g -- "$user")" --clear-groups)
    return 0
  done
  fail "no user to run a server as: none of ${server_users[*]} exists."
}

# Sets from_tree, which runs $1, a program in the folder $tree that script/support/debian-package made,
# with the libraries there: those of its own Debian, not of this machine's.
use_tree() {
  tree=$(cd -- "$tree" && pwd)
  local loader=("$tree"/usr/lib/*-linux-gnu/ld-linux-*.so.*)
  [[ -x ${loader[0]} && -x $tree/$1 ]] || fail "no $1 in $tree, or no C library."
  # shellcheck disable=SC2034  # for scripts that source this
  from_tree=("${loader[0]}" --library-path "$(dirname -- "${loader[0]}")" "$tree/$1")
}

# Of the tree, before the server is started.
require_open_tree() {
  "${as_server[@]}" test -x "$tree/usr/sbin" ||
    fail "the user $server_user cannot enter $tree: every folder above it must be open to it."
}

# The server first, then its folder. Nothing interrupts this.
# shellcheck disable=SC2317  # a trap calls it
clean_up() {
  local status=$?
  trap '' INT TERM HUP
  trap - EXIT
  if [[ -n $server ]]; then
    local signal
    for signal in "${stop_signals[@]}"; do
      kill -s "$signal" -- "$server" 2>/dev/null || break
      local tries
      for ((tries = 0; tries < 200; ++tries)); do
        kill -0 -- "$server" 2>/dev/null || break 2
        sleep 0.05
      done
    done
    wait "$server" 2>/dev/null || true
  fi
  if [[ -n $folder ]]; then rm -rf -- "$folder"; fi
  exit "$status"
}

# Passes the signal on to the command; what comes after runs in the normal way.
interrupted_by=
# shellcheck disable=SC2317  # a trap calls it
interrupt() {
  interrupted_by=$2
  if [[ -n $command ]]; then
    kill -s "$1" -- "$command" 2>/dev/null || true
  else
    exit "$2"
  fi
}

# The server's user must be able to walk to the folder, and a socket's path is short.
make_folder() {
  local parent
  for parent in "${TMPDIR:-/tmp}" /tmp /var/tmp; do
    if ((${#parent} <= 60)) && "${as_server[@]}" test -x "$parent" && [[ -w $parent ]]; then break; fi
    parent=
  done
  [[ -n $parent ]] || fail "no temporary folder that the server's user can enter: set TMPDIR."
  folder=$(mktemp -d -- "$parent/rowlock-${program#throwaway-}.XXXXXX")
  chmod 755 -- "$folder"
  if [[ -n $server_user ]]; then chown -- "$server_user:" "$folder"; fi
  log=$folder/log
}

# The server's user may not be able to read where we came from.
in_folder() (
  cd -- "$folder" || exit
  exec "${as_server[@]}" "$@"
)

quietly() {
  "$@" >>"$log" 2>&1 </dev/null || {
    cat -- "$log" >&2
    fail "cannot make a new $server_name, see above."
  }
}

# The server is a child of this shell in a session of its own (so that Ctrl-C reaches the command
# first), and the kernel stops it (--pdeathsig) should this shell be killed.
start_server() {
  server_command
  (
    cd -- "$folder" || exit
    exec setsid setpriv "${as_server[@]:1}" --pdeathsig "${stop_signals[0]}" "${server_line[@]}"
  ) >>"$log" 2>&1 </dev/null &
  server=$!
}

# A port that is free now may be taken when the server binds it, hence several attempts.
start_somewhere() {
  local attempt tries
  for ((attempt = 0; attempt < 20; ++attempt)); do
    port=$((20000 + RANDOM % 12000))
    if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then continue; fi
    : >"$log"
    start_server
    for ((tries = 0; tries < 1200; ++tries)); do
      if is_ready; then return; fi
      kill -0 -- "$server" 2>/dev/null || break
      sleep 0.05
    done
    if kill -0 -- "$server" 2>/dev/null; then
      cat -- "$log" >&2
      fail "the $server_name did not get ready within a minute, see above."
    fi
    server=
    grep -q 'Address already in use' -- "$log" || break
  done
  cat -- "$log" >&2
  fail "the $server_name did not start, see above."
}

run_with_server() {
  trap clean_up EXIT
  trap 'interrupt INT 130' INT
  trap 'interrupt TERM 143' TERM
  trap 'interrupt HUP 129' HUP
  choose_user
  make_folder
  initialise
  start_somewhere
  announce

  # In the background, so that a signal reaches us while it runs; with our own standard input, and
  # with the signals that a shell would have its background commands ignore. Without us it has no
  # server: the kernel ends it should this shell be killed.
  setpriv --pdeathsig TERM env --default-signal=INT,QUIT "$@" <&0 &
  command=$!
  local status=0 ended tries restarts=0
  if [[ -z $restart ]]; then
    wait "$command" || status=$?
  else
    while [[ -z $interrupted_by ]]; do
      status=0
      wait -n -p ended "$command" "$server" || status=$?
      [[ ${ended-} == "$server" ]] || break
      ((++restarts > 20)) || echo "$program: the server ended with $status and starts again: $(tail -n 1 -- "$log")" >&2
      sleep 0.05 # so that one that cannot start does not keep us busy
      start_server
    done
  fi
  # A signal ends the wait, not the command, which gets ten seconds to end by itself.
  if [[ -n $interrupted_by ]]; then
    for ((tries = 0; tries < 200; ++tries)); do
      kill -0 -- "$command" 2>/dev/null || break
      sleep 0.05
    done
    kill -s KILL -- "$command" 2>/dev/null || true
    status=$interrupted_by
  fi
  command=
  exit "$status"
}
