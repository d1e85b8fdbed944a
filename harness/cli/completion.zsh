#compdef gtp-harness
# zsh completion for gtp-harness: made by gtp-harness completion zsh
_gtp_harness_cases() {
    _alternative 'names:cases that ship:(@CASES@)' 'files:case file:_files'
}
_gtp_harness_or_folder() {  # _arguments puts options of compadd before the names
    local -a names=(${@:#-*})
    _alternative "names:name:($names)" 'folders:folder:_files -/'
}
_gtp_harness_programs() {
    _alternative 'commands:program:_command_names -e' 'files:program:_files'
}
_gtp_harness() {
    local curcontext=$curcontext state line
    local -a commands=(
@COMMANDS@
    )
    _arguments -C '1:command:->command' '*::argument:->arguments' && return
    if [[ $state == command ]]; then
        _describe command commands
        return
    fi
    curcontext=${curcontext%:*:*}:gtp-harness-$words[1]:
    case $words[1] in
        help) _describe command commands ;;
@ARGUMENTS@
    esac
}
if [[ $funcstack[1] == _gtp-harness ]]; then
    _gtp_harness "$@"
else
    compdef _gtp_harness gtp-harness
fi
