# There is no trained build whose profile could be taken.
mkdir p && cd p
printf 'project: none\nbuild: {tool: make, binary: none}\ntrain: {phases: [{name: all, run: "{binary}"}]}\n' >whet.yaml
whet build --profile last 2>&1 | sed 's/none-[0-9a-f]*/none-STATE/' >&2
whet build --profile last 2>/dev/null
