# completion.bash - bash's completion of streamlab's command line. What it knows is put in by
# docs/generate/completion.lua, from repl/usage.

# Prints the options of `streamlab [SUBCOMMAND]`.
_streamlab_options() {
    case $1 in
    # options
    esac
}

# Prints what may come first behind it.
_streamlab_actions() {
    case $1 in
    # actions
    esac
}

# Prints what may stand behind an option: words, "profiles" or "files"; fails where nothing does.
_streamlab_values() { # "SUBCOMMAND OPTION"
    case $1 in
    # values
    *) return 1 ;;
    esac
}

_streamlab_profiles() {
    STREAMLAB_CUDA_PLUGIN=none "$1" -E -e \
        'for _, d in ipairs(lab.devices()) do print(d.profile) end' 2>/dev/null
}

# Offers the words, and files; those that begin with what was typed.
_streamlab_offer() { # WORDS [FILES...]
    mapfile -t COMPREPLY < <(compgen -W "$1" -- "$typed")
    shift
    [ $# = 0 ] || mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen "$@" -- "$typed")
}

_streamlab() {
    local program=${COMP_WORDS[0]} typed=${COMP_WORDS[COMP_CWORD]} before subcommand='' equals='' values
    before=${COMP_WORDS[COMP_CWORD - 1]}
    if [[ $typed == '=' ]]; then    # --color=al is three words here
        typed='' equals='='
    elif [[ $before == '=' ]]; then
        before=${COMP_WORDS[COMP_CWORD - 2]} equals='='
    fi
    if ((COMP_CWORD > 1)) && [[ " $(_streamlab_actions '') " == *" ${COMP_WORDS[1]} "* ]]; then
        subcommand=${COMP_WORDS[1]}
    fi
    compopt -o filenames 2>/dev/null
    values=$(_streamlab_values "$subcommand $before" || _streamlab_values "$subcommand $before$equals" ||
        echo nothing)
    case $values in
    profiles) _streamlab_offer "$(_streamlab_profiles "$program")" -f -X '!*.lua' ;;
    files) _streamlab_offer '' -f ;;
    nothing)
        if [[ $typed == -* ]]; then
            _streamlab_offer "$(_streamlab_options "$subcommand")"
        elif ((COMP_CWORD == 2)) && [[ $subcommand != '' && $(_streamlab_actions "$subcommand") != '' ]]; then
            _streamlab_offer "$(_streamlab_actions "$subcommand")"
        else
            _streamlab_offer "$( ((COMP_CWORD > 1)) || _streamlab_actions '')" -f
        fi
        ;;
    *) _streamlab_offer "$values" ;;
    esac
}

complete -F _streamlab streamlab
