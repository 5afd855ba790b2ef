#!/bin/sh
# The installed `outfitter` command.
#
# Python runs whatever PYTHONPATH names before any code of ours could object: sitecustomize.py, re.py, outfitter/. In a
# stranger's checkout that would be the stranger's code. So the interpreter starts without PYTHON* variables (-E) and
# without the working directory on its path (-P). The environment itself stays as it is: the harness still gets it.
self=$0
if [ -L "$self" ]; then
  # pipx and `uv tool` link the command into a directory of the PATH; its interpreter lies beside the real file.
  self=$(realpath -- "$self" 2>/dev/null || readlink -f -- "$self") || {
    echo "outfitter: error: cannot resolve the symlink $0" >&2
    exit 125
  }
fi
case $self in
*/*) python=${self%/*}/python3 ;;
*) python=./python3 ;;
esac
# Outside an environment of its own (pip install --user), the interpreter is the one on the PATH.
[ -x "$python" ] || python=python3
exec "$python" -E -P -m outfitter "$@"
