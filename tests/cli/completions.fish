# What fish completes: fish completions.fish SCRIPT LINE... prints `= LINE`, and then a line for each word.
source $argv[1]
for line in $argv[2..]
    echo "= $line"
    complete -C $line | string replace -r '\t.*' ''
end
