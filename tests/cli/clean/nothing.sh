# No state at all is nothing to remove, and the folder of states is not made for it.
whet clean --all
whet clean --list
[ ! -e "$WHET_STATE" ]
