# Completion of rowlock for bash: rowlock itself says what fits at the cursor.
_rowlock() {
  local current=${2-} answer
  [[ $current != '=' ]] || current=
  # On its input: a URL with a password must not stand in the list of processes.
  mapfile -t answer < <(printf '%s\0' "${COMP_WORDS[@]:1:COMP_CWORD}" | "$1" complete 2>/dev/null)
  case ${answer-} in
    :file) _rowlock_file "$current" ;;
    :command*) _rowlock_command "${answer#:command }" "$current" ;;
    *) mapfile -t COMPREPLY < <(compgen -W "${answer[*]%%$'\t'*}" -- "$current") ;;
  esac
}

_rowlock_file() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -f -- "$1")
}

# bash-completion completes the command's own arguments, too.
_rowlock_command() {
  if declare -F _comp_command_offset >/dev/null; then
    _comp_command_offset "$1"
  elif declare -F _command_offset >/dev/null; then
    _command_offset "$1"
  elif ((COMP_CWORD == $1)); then
    mapfile -t COMPREPLY < <(compgen -c -- "$2")
  else
    _rowlock_file "$2"
  fi
}

complete -F _rowlock rowlock
