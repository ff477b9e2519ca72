# What zsh completes: zsh -f completions.zsh SCRIPT LINE... prints `= LINE`, and then a line for each word.
# The shell on a terminal of its own gets the line and a tab; it marks each word, and the end of all of them.
if [[ $1 == --inside ]]; then
  autoload -Uz compinit && compinit -u -D
  source $2
  zstyle ':completion:*' insert-tab false
  bindkey -e
  bindkey '^I' complete-word
  bindkey '^U' kill-buffer
  compadd() {
    local -a stored words_added
    zparseopts -E -a stored A: D: O:
    if (( ! $#stored )); then
      builtin compadd -A words_added "$@"
      (( ! $#words_added )) || printf '<%s>' "$words_added[@]"
    fi
    builtin compadd "$@"
  }
  mark_end() {
    print -n '<END>'
    comppostfuncs=(mark_end)
  }
  comppostfuncs=(mark_end)
  return
fi

zmodload zsh/zpty
zpty shell TERM=dumb zsh -f -i
zpty -w shell "source ${(q)0:a} --inside ${(q)1}; print -n '<'READY'>'"
zpty -r shell seen '*<READY>*'
for line in "${@:2}"; do
  print -r -- "= $line"
  zpty -w -n shell "$line"$'\t'
  zpty -r shell seen '*<END>*'
  while [[ $seen == *'<'*'>'* ]]; do
    seen=${seen#*'<'}
    [[ ${seen%%'>'*} == END ]] || print -r -- "${(Q)seen%%'>'*}"
  done
  zpty -w -n shell $'\x15'
done
zpty -d shell
