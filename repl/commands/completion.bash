# completion.bash - bash's completion of streamlab's command line. Options and subcommands
# are read from the program's own --help, so that none is missing here.

# Prints the options of `streamlab [SUBCOMMAND]`, one a line.
_streamlab_options() {
    "$1" ${2:+"$2"} --help 2>/dev/null |
        sed -n 's/^  \(-.*\)/\1/p' | sed 's/  .*//; s/\[=[^]]*\]//g; s/ [^-][^ ,]*//g; s/,//g' |
        tr ' ' '\n' | sed -n '/^-[a-zA-Z-]./p;/^-[a-zA-Z]$/p' | sort -u
}

# Prints the subcommands: the lines below "subcommands" in --help.
_streamlab_subcommands() {
    "$1" --help 2>/dev/null | sed -n '/^subcommands/,/^[a-z].*:$/s/^  \([a-z][a-z]*\) .*/\1/p'
}

_streamlab_profiles() {
    STREAMLAB_CUDA_PLUGIN=none "$1" -E -e \
        'for _, d in ipairs(lab.devices()) do print(d.profile) end' 2>/dev/null
}

# Offers the words; those that begin with what was typed.
_streamlab_offer() {
    mapfile -t COMPREPLY < <(compgen -W "$1" -- "$typed")
}

_streamlab() {
    local program=${COMP_WORDS[0]} typed=${COMP_WORDS[COMP_CWORD]} before subcommand='' equals=''
    before=${COMP_WORDS[COMP_CWORD - 1]}
    if [[ $typed == '=' ]]; then    # --color=al is three words here
        typed='' equals='='
    elif [[ $before == '=' ]]; then
        before=${COMP_WORDS[COMP_CWORD - 2]} equals='='
    fi
    if ((COMP_CWORD > 1)) && [[ " $(_streamlab_subcommands "$program" | tr '\n' ' ')" == *" ${COMP_WORDS[1]} "* ]]; then
        subcommand=${COMP_WORDS[1]}
    fi
    if [[ $subcommand == lab ]] && ((COMP_CWORD == 2)) && [[ $typed != -* ]]; then
        _streamlab_offer 'check grade new pack'
        return
    fi
    COMPREPLY=()
    compopt -o filenames 2>/dev/null
    [[ $before == --check ]] && before+=$equals     # its value is never the next word
    case $before in
    --backend) _streamlab_offer 'cuda sim' ;;
    --color) _streamlab_offer 'auto always never' ;;
    --check=) _streamlab_offer 'warn error' ;;
    --rows) _streamlab_offer 'streams engines' ;;
    --theme) _streamlab_offer 'light dark' ;;
    --format) _streamlab_offer 'gradescope tap junit csv' ;;
    --profile | --host | --base | --against)
        _streamlab_offer "$(_streamlab_profiles "$program")"
        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -X '!*.lua' -- "$typed")
        ;;
    --device | --devices | --only | --seed | --seeds | --spread | --runs | --from | --to | --columns | --jobs | -j | -e | -l) ;;
    *)
        if [[ $typed == -* ]]; then
            _streamlab_offer "$(_streamlab_options "$program" "$subcommand")"
        else
            mapfile -t COMPREPLY < <(compgen -f -- "$typed")
            if ((COMP_CWORD == 1)); then
                mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W \
                    "$(_streamlab_subcommands "$program")" -- "$typed")
            fi
        fi
        ;;
    esac
}

complete -F _streamlab streamlab
