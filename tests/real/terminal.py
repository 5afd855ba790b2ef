"""A program on a terminal of its own, watched as a person would: the screen as drawn, not the bytes that drew it."""

import termios
import time

import pexpect
import pyte

COLUMNS, LINES = 120, 40


class Screen:
    """A child on a pseudo terminal. `see` waits for text on the screen, `type` sends keys, `end` waits for the exit."""

    def __init__(self, words, cwd, env):
        self.screen = pyte.Screen(COLUMNS, LINES)
        self._stream = pyte.ByteStream(self.screen)
        self.child = pexpect.spawn(words[0], words[1:], cwd=str(cwd), env=env, dimensions=(LINES, COLUMNS), timeout=60)
        self.modes = termios.tcgetattr(self.child.child_fd)[:4]

    @property
    def text(self):
        """The screen as lines, blanks of every kind as plain ones."""
        return "\n".join(line.replace("\xa0", " ").rstrip() for line in self.screen.display)

    def see(self, wanted, seconds=30):
        """Wait until the text stands on the screen."""
        end = time.monotonic() + seconds
        while wanted not in self.text:
            assert self.pump(), f"ended before {wanted!r} was seen:\n{self.text}"
            assert time.monotonic() < end, f"{wanted!r} was not seen:\n{self.text.strip()}"
        return self.text

    def type(self, keys):
        self.child.send(keys)

    def pump(self):
        """Draw what has come; False once the program has closed its terminal."""
        try:
            self._stream.feed(self.child.read_nonblocking(65536, timeout=0.1))
        except pexpect.TIMEOUT:
            return True
        except pexpect.EOF:
            return False
        return True

    def end(self, seconds=60):
        """Wait for the exit; its code, or minus the signal. The terminal must be as it was before the start."""
        stop = time.monotonic() + seconds
        while self.pump():
            assert time.monotonic() < stop, f"did not end:\n{self.text}"
        after = termios.tcgetattr(self.child.child_fd)[:4]
        self.child.wait()
        assert after == self.modes, "the terminal's modes changed"
        status = self.child.exitstatus
        return status if status is not None else -self.child.signalstatus

    def close(self):
        self.child.close(force=True)
