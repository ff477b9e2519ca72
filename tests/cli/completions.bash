# What bash completes: bash completions.bash SCRIPT LINE... prints `= LINE`, and then a line for each word.
# The cursor is at the end of the line. Words are divided as bash divides them for a completion.
set -u
# shellcheck disable=SC1090  # the script that is tested
source "$1"
for line in "${@:2}"; do
  mapfile -t COMP_WORDS < <(grep -oE "'[^']*'|[=:]|[^ =:']+" <<<"$line")
  [[ $line != *' ' ]] || COMP_WORDS+=('')
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  COMP_LINE=$line
  COMP_POINT=${#line}
  _rowlock rowlock "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
  printf '= %s\n' "$line" "${COMPREPLY[@]}" | sed '2,$s/^= //'
done
