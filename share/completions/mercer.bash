# Completion of mercer for bash: verbs, their options, names of kernels, learners, samples, files.
# SPDX-License-Identifier: Apache-2.0

_mercer()
{
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
    local verb= learner= i words=
    for ((i = 1; i < COMP_CWORD; i++)); do
        if [[ ${COMP_WORDS[i]} != -* ]]; then
            verb=${COMP_WORDS[i]}
            learner=${COMP_WORDS[i+1]}
            break
        fi
    done
    # The lists come from the program itself, so that they are never out of date.
    if [[ -z $verb || $verb == help ]]; then
        words=$(mercer help 2>/dev/null | sed -n '/^Verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p')
    elif [[ $word == -* ]]; then
        [[ $verb =~ ^(fit|cv|tune)$ && $learner != -* ]] || learner=
        words=$(mercer "$verb" ${learner:+"$learner"} --help 2>/dev/null |
            sed -n '/^Examples:/q; s/^  *\(-., \)\{0,1\}\(--[a-z-]*\).*/\2/p')
    elif [[ $before == -k || $before == --kernel || $verb == kernels ]]; then
        words=$(mercer kernels 2>/dev/null | sed -n 's/^  \([a-z0-9]*\) .*/\1/p')
    elif [[ $verb == learners || ($verb =~ ^(fit|cv|tune)$ && $before == "$verb") ]]; then
        words=$(mercer learners 2>/dev/null | sed -n 's/^  \([a-z0-9-]*\) .*/\1/p')
    elif [[ $verb == export && $before == --to ]]; then
        words="c onnx json libsvm"
    elif [[ $verb == plot && $before == --kind ]]; then
        words="boundary surface band projection clusters gram spectrum roc pr calibration confusion residuals tuning
            path learning importance logo data"
    elif [[ $verb == plot && $before == --theme ]]; then
        words="auto light dark"
    elif [[ $verb == plot && $before == --graphics ]]; then
        words="auto text sixel kitty"
    elif [[ $verb == sample && $before == sample ]]; then
        words=$(mercer sample 2>/dev/null | sed 's/ .*//')
    fi
    COMPREPLY=($(compgen -W "$words" -- "$word"))
    if [[ -z $words ]]; then
        COMPREPLY=($(compgen -f -- "$word"))
    fi
}

complete -o filenames -F _mercer mercer
