# SPDX-License-Identifier: Apache-2.0
"""How the program ends, and which files it was made of."""

import atexit
import os
import site
import sys
import sysconfig
import threading
import traceback


_RETURNED, _EXCEPTION, _SYSTEM_EXIT = 1, 2, 3
_DETAIL_LIMIT = 64 * 1024

_exit_argument = None  # a tuple, once the main thread has called sys.exit


def _text(value):
    """As UTF-8 can carry it: file names and messages may hold anything."""
    return str(value).encode("utf-8", "replace").decode("utf-8")


def _source_files():
    """The .py files outside the standard library and site-packages that this program imported."""
    paths = sysconfig.get_paths()
    foreign = {paths[key] for key in ("stdlib", "platstdlib", "purelib", "platlib")}
    foreign.update(site.getsitepackages(), [site.getusersitepackages()], [os.path.dirname(__file__)])
    foreign = tuple(os.path.join(os.path.abspath(path), "") for path in foreign)
    # __main__ has lost its __file__ by now.
    files = {os.environ["PRISM_AGENT_SCRIPT"]}
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and file.endswith(".py") and os.path.isabs(file):
            file = os.path.normpath(file)
            if not file.startswith(foreign):
                files.add(file)
    return sorted(_text(file) for file in files)


def _prepare_bye(report):
    # Python leaves an uncaught exception here before it calls the excepthook, whoever replaced that.
    uncaught = getattr(sys, "last_value", None)
    if uncaught is not None:
        reason, detail = _EXCEPTION, "".join(traceback.format_exception(uncaught))
    elif _exit_argument is not None:
        reason = _SYSTEM_EXIT
        detail = _exit_argument[0] if isinstance(_exit_argument[0], str) else ""
    else:
        reason, detail = _RETURNED, ""
    report(reason, _text(detail)[-_DETAIL_LIMIT:], _source_files())


def install(report):
    """`report` takes the reason, the details and the source files when the program ends."""
    original = sys.exit

    def exit(status=None, /):
        global _exit_argument
        if threading.current_thread() is threading.main_thread():
            _exit_argument = (status,)
        original(status)

    exit.__doc__ = original.__doc__
    sys.exit = exit
    atexit.register(_prepare_bye, report)
