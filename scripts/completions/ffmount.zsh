#compdef ffmount
# Completion of ffmount for zsh: asks the program, which alone knows its options.

local word=${(Q)PREFIX} line text
local -a lines open closed
lines=("${(@f)$(ffmount --complete "${(@Q)words[2,CURRENT-1]}" "$word" 2>/dev/null)}")

# What stays of a list: `ro,` of `ro,dep`, `views=+docx:` of `views=+docx:-p`.
local head=${word%${word##*[,=:]}} result=1
for line in ${lines[2,-1]}; do
    text=${${line%%$'\t'*}#$head}
    # _describe wants `text:meaning`.
    line=${text//:/\\:}:${line#*$'\t'}
    if [[ $text == *[=/] ]]; then open+=("$line"); else closed+=("$line"); fi
done
case $lines[1] in
files) _files && result=0 ;;
folders) _files -/ && result=0 ;;
esac
if (( $#open + $#closed )); then
    # In the program's order.
    compset -P '*[,=:]'
    _describe -V -t values value open -S '' -- closed && result=0
fi
return result
