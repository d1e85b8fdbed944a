# bash completion for gtp-harness: made by gtp-harness completion bash
_gtp_harness_offer() {  # KIND WORDS: offer what begins with $word
    case $1 in
        files | cases) mapfile -t COMPREPLY < <(compgen -f -- "$word"); compopt -o filenames ;;
        folders) mapfile -t COMPREPLY < <(compgen -d -- "$word"); compopt -o filenames ;;
        programs) mapfile -t COMPREPLY < <(compgen -c -- "$word"; compgen -f -- "$word") ;;
    esac 2>/dev/null
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W "$2" -- "$word")
}
_gtp_harness() {
    local line=${COMP_LINE:0:COMP_POINT} words word previous command count=0 place cut
    read -ra words <<< "$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    word=${words[-1]} previous=${words[-2]} command=${words[1]}
    COMPREPLY=()
    if ((${#words[@]} == 2)); then
        _gtp_harness_offer "" "@COMMANDS@ help --help --version"
    else
        if [[ $command == help ]]; then
            _gtp_harness_offer "" "@COMMANDS@"
        elif [[ $word == --*=* ]]; then
            previous=${word%%=*} word=${word#*=}
        fi
        for ((place = 2; place < ${#words[@]} - 1; place++)); do
            case "$command ${words[place]}" in
                @VALUED@) ((place++)) ;;
                *" -"*) ;;
                *) ((count++)) ;;
            esac
        done
        case "$command $previous" in
@VALUES@
            *) [[ $word == -* ]] && previous=- || previous=$count
                case "$command $previous" in
@WORDS@
                esac ;;
        esac
    fi
    cut=${word%"${word##*[@=:]}"}
    if [[ -n $cut && $COMP_WORDBREAKS == *"${cut: -1}"* ]]; then
        COMPREPLY=("${COMPREPLY[@]#"$cut"}")
    fi
}
complete -F _gtp_harness gtp-harness
