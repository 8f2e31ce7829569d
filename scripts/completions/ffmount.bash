# Completion of ffmount for bash: asks the program, which alone knows its options. Needs bash-completion.
# shellcheck shell=bash

_ffmount() {
    # bash-completion sets all four.
    # shellcheck disable=SC2034
    local cur prev words cword
    # `=` and `:` stay in the word. The second is of versions of bash-completion before 2.12.
    if declare -F _comp_initialize >/dev/null; then
        _comp_initialize -n =: -- "$@" || return
    else
        _init_completion -n =: || return
    fi
    local word names text index found=()
    # Without -r: this takes a level of backslashes away, as the shell does.
    # shellcheck disable=SC2162
    IFS= read word <<<"$cur"
    {
        read -r names
        while IFS=$'\t' read -r text _; do found+=("$text"); done
    } < <(ffmount --complete "${words[@]:1:cword-1}" "$word" 2>/dev/null)

    case $names in
    files) _filedir ;;
    folders) _filedir -d ;;
    *)
        # An option or a value; file names are quoted by readline.
        [[ ${#found[@]} -ne 1 || ${found[0]} != *[=/] ]] || compopt -o nospace
        for index in "${!found[@]}"; do
            printf -v text %q "${found[index]}"
            found[index]=${text//\\,/,}
        done
        ;;
    esac
    # For readline a word starts after the last `=` or `:`.
    local head=${cur%"${cur##*[=:]}"}
    for text in "${found[@]}"; do COMPREPLY+=("${text#"$head"}"); done
}
complete -F _ffmount ffmount
