# Completion of rowlock for fish: rowlock itself says what fits at the cursor.
function __rowlock_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    # On its input: a URL with a password must not stand in the list of processes.
    set -l answer (printf '%s\0' $words[2..] "$current" | $words[1] complete 2>/dev/null)
    set -l option (string replace -r '^(--[^=]*=)?.*' '$1' -- "$current")
    switch "$answer[1]"
        case ':file'
            printf '%s\n' "$option"(__fish_complete_path (string replace -r '^--[^=]*=' '' -- "$current"))
        case ':command *'
            set -e words[1..(string replace ':command ' '' -- $answer[1])]
            complete -C (string join ' ' -- (string escape -- $words) "$current")
        case '*'
            printf '%s\n' "$option"$answer
    end
end

complete -c rowlock -f -a '(__rowlock_complete)'
