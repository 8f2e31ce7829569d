# Completion of ffmount for fish: asks the program, which alone knows its options.

function __ffmount_candidates
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    set -l plain (string unescape -- "$word"); or set plain "$word"
    set -l lines (ffmount --complete $words[2..-1] "$plain" 2>/dev/null)
    switch "$lines[1]"
        case files
            __fish_complete_path "$word"
        case folders
            __fish_complete_directories "$word" ''
    end
    # Each is the whole word, a tab, and what it means.
    printf '%s\n' $lines[2..-1]
end

complete -c ffmount -f -a '(__ffmount_candidates)'
