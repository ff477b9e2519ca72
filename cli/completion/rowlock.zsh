#compdef rowlock
# Completion of rowlock for zsh: rowlock itself says what fits at the cursor.
_rowlock() {
  # On its input: a URL with a password must not stand in the list of processes.
  local -a answer=(${(f)"$(print -rN -- "${(@Q)words[2,CURRENT]}" | $words[1] complete 2>/dev/null)"})
  [[ $PREFIX != --*=* ]] || compset -P '*='
  case $answer[1] in
    :file) _files ;;
    :command*)
      shift ${answer[1]#:command } words
      (( CURRENT -= ${answer[1]#:command } ))
      _normal
      ;;
    *)
      answer=(${${answer%$'\t'}/$'\t'/:})
      _describe -t arguments 'argument of rowlock' answer
      ;;
  esac
}

if [[ ${funcstack[1]-} == _rowlock ]]; then
  _rowlock "$@"
else
  compdef _rowlock rowlock
fi
