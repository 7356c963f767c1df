# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Read traces of SiFive processors.

    import sifive_trace

    with sifive_trace.Trace('trace.rtd', elf='fib.elf') as trace:
        for call in trace:
            print(call.function.label, call.length, call.counts.get('cycles'))
        if not trace.complete:
            print(trace.messages)

This is the Python interface of sifive_trace_read.h, which documents events and their attributes.
The library libsifive-trace-read.so.0 must be installed, or be in $LD_LIBRARY_PATH.
"""

import collections
import ctypes
import functools

RECORD, CALL, SPAN, LOST, IDLE, POINT = (1 << bit for bit in range(6))
# Values of Event.type: for a record or point, for a call, and for a span.
ENTER, EXIT, MANUAL, SAMPLE = range(4)
RETURNED, UNWOUND, CUT = range(3)
UNKNOWN, RUNS, PREEMPTED, SLEEPS, UNINTERRUPTIBLE, STOPPED, WAITS, WOKEN, SEVERAL = \
    range(9)

_TIMED, _INFERRED, _SELF_INFERRED, _OUTERMOST, _FIRST, _AFTER_LOSS, _MOVED = \
    (1 << bit for bit in range(7))
_NO_FUNCTION = 0xffffffff


class Error(Exception):
    """The trace cannot be read; the text gives the reason."""


class _Event(ctypes.Structure):
    _fields_ = [
        ('kind', ctypes.c_uint32), ('flags', ctypes.c_uint32),
        ('time', ctypes.c_uint64), ('length', ctypes.c_uint64),
        ('self', ctypes.c_uint64), ('waited', ctypes.c_uint64),
        ('address', ctypes.c_uint64), ('caller_address', ctypes.c_uint64),
        ('counted', ctypes.c_uint64),
        ('count', ctypes.POINTER(ctypes.c_uint64)),
        ('count_self', ctypes.POINTER(ctypes.c_uint64)),
        ('counters', ctypes.c_uint32), ('thread', ctypes.c_uint32),
        ('function', ctypes.c_uint32), ('caller', ctypes.c_uint32),
        ('depth', ctypes.c_uint32), ('type', ctypes.c_uint32),
        ('source', ctypes.c_uint32), ('channel', ctypes.c_uint32),
        ('offset', ctypes.c_uint64),
        ('callers', ctypes.POINTER(ctypes.c_uint32)), ('caller_count', ctypes.c_uint32),
    ]


class _Function(ctypes.Structure):
    _fields_ = [
        ('label', ctypes.c_char_p), ('name', ctypes.c_char_p),
        ('file', ctypes.c_char_p), ('object', ctypes.c_char_p),
        ('line', ctypes.c_uint32), ('address', ctypes.c_uint64),
    ]


class _Thread(ctypes.Structure):
    _fields_ = [
        ('label', ctypes.c_char_p), ('pid', ctypes.c_int64), ('tid', ctypes.c_int64),
        ('source', ctypes.c_int32), ('channel', ctypes.c_uint32),
    ]


class _Info(ctypes.Structure):
    _fields_ = [
        ('program', ctypes.c_char_p), ('hz', ctypes.c_uint64),
        ('bytes', ctypes.c_uint64), ('records', ctypes.c_uint64),
        ('first', ctypes.c_uint64), ('last', ctypes.c_uint64),
        ('counters', ctypes.c_uint32), ('functions', ctypes.c_uint32),
        ('threads', ctypes.c_uint32),
    ]


Function = collections.namedtuple('Function', 'label name file object line address')
Thread = collections.namedtuple('Thread', 'label pid tid source channel')
Info = collections.namedtuple(
    'Info', 'program hz bytes records first last counters functions threads')


@functools.lru_cache(maxsize=None)
def _library():
    library = ctypes.CDLL('libsifive-trace-read.so.0')
    reader, text = ctypes.c_void_p, ctypes.c_char_p
    for name, result, arguments in (
            ('new', reader, []),
            ('set', ctypes.c_int, [reader, text, text]),
            ('open', ctypes.c_int, [reader, text, ctypes.c_uint]),
            ('next', ctypes.c_int, [reader, ctypes.POINTER(ctypes.POINTER(_Event))]),
            ('complete', ctypes.c_int, [reader]),
            ('info', ctypes.POINTER(_Info), [reader]),
            ('counter', text, [reader, ctypes.c_uint]),
            ('point_counter', text, [reader, ctypes.c_uint]),
            ('function', ctypes.POINTER(_Function), [reader, ctypes.c_uint32]),
            ('thread', ctypes.POINTER(_Thread), [reader, ctypes.c_uint32]),
            ('error', text, [reader]),
            ('messages', text, [reader]),
            ('free', None, [reader])):
        call = getattr(library, 'sifive_reader_' + name)
        call.restype = result
        call.argtypes = arguments
    return library


def _text(value):
    return value.decode(errors='replace') if isinstance(value, bytes) else value


def _copy(kind, structure):
    return kind(*(_text(getattr(structure, field)) for field in kind._fields))


class Event:
    """An event; times are in ticks, None if unknown."""

    def __init__(self, trace, event):
        self._trace = trace
        self.kind = event.kind
        self.type = event.type
        timed = event.flags & _TIMED
        self.time = event.time if timed else None
        self.length = event.length if timed else None
        self.self = event.self if timed else None
        self.waited = event.waited
        self.inferred = bool(event.flags & _INFERRED)
        self.self_inferred = bool(event.flags & _SELF_INFERRED)
        self.outermost = bool(event.flags & _OUTERMOST)
        self.first = bool(event.flags & _FIRST)
        self.after_loss = bool(event.flags & _AFTER_LOSS)
        self.moved = bool(event.flags & _MOVED)
        self.address = event.address
        self.caller_address = event.caller_address
        self.depth = event.depth
        self.source = event.source
        self.channel = event.channel
        self.offset = event.offset
        self._function = event.function
        self._caller = event.caller
        self._thread = event.thread
        self._counted = event.counted
        self._count = event.count[:event.counters] if event.count else []
        self._callers = event.callers[:event.caller_count] if event.callers else None
        self._count_self = event.count_self[:event.counters] if event.count_self else []

    def _named(self, count):
        name = self._trace.point_counter if self.kind == POINT else self._trace.counter
        return {name(i): value for i, value in enumerate(count) if self._counted >> i & 1}

    @property
    def counts(self):
        """Counts by counter name; unknown counts are omitted."""
        return self._named(self._count)

    @property
    def counts_self(self):
        """The counts of a call, excluding the functions that it called."""
        return self._named(self._count_self)

    @property
    def function(self):
        """The function of a call, record or point, or None."""
        return self._trace.function(self._function)

    @property
    def caller(self):
        """The function that encloses a call or point, or None."""
        return self._trace.function(self._caller)

    @property
    def callers(self):
        """The callers of a sample's function, innermost first; None if not recorded."""
        return None if self._callers is None else [
            self._trace.function(number) for number in self._callers]

    @property
    def thread(self):
        """The thread."""
        return self._trace.thread(self._thread)


class Trace:
    """An open trace: an iterator over its events.

    events: CALL, RECORD, SPAN, LOST, IDLE or POINT, or several of them combined with |
    options: the command's options that sifive_reader_set() lists, with _ instead of -. The
    value is True for an option without a value, and can be a list for elf
    """

    def __init__(self, path, events=CALL, **options):
        self._library = _library()
        self._functions, self._threads, self._counters, self._point_counters = {}, {}, [], []
        self._reader = self._library.sifive_reader_new()
        if not self._reader:
            raise MemoryError
        try:
            for name, values in options.items():
                for value in values if isinstance(values, (list, tuple)) else [values]:
                    self._set(name.replace('_', '-'), value)
            self._check(self._library.sifive_reader_open(
                self._reader, str(path).encode(errors='surrogateescape'), events))
        except BaseException:
            self.close()
            raise

    def _set(self, name, value):
        if value is False or value is None:
            return
        text = None if value is True else str(value).encode(errors='surrogateescape')
        self._check(self._library.sifive_reader_set(self._reader, name.encode(), text))

    def _check(self, result):
        if result < 0:
            raise Error(_text(self._library.sifive_reader_error(self._reader)))
        return result

    def _opened(self):
        if not self._reader:
            raise ValueError('the trace is closed')
        return self._reader

    def __iter__(self):
        return self

    def __next__(self):
        event = ctypes.POINTER(_Event)()
        if not self._check(self._library.sifive_reader_next(self._opened(),
                                                            ctypes.byref(event))):
            raise StopIteration
        return Event(self, event.contents)

    def _name(self, names, get, number):
        while number >= len(names):
            name = get(self._opened(), len(names))
            if name is None:
                return None
            names.append(_text(name))
        return names[number]

    def counter(self, number):
        """The name of a counter."""
        return self._name(self._counters, self._library.sifive_reader_counter, number)

    def point_counter(self, number):
        """The name of a counter of points."""
        return self._name(self._point_counters, self._library.sifive_reader_point_counter,
                          number)

    def function(self, number):
        """The function with this number, or None."""
        if number == _NO_FUNCTION:
            return None
        if number not in self._functions:
            found = self._library.sifive_reader_function(self._opened(), number)
            if not found:
                return None
            self._functions[number] = _copy(Function, found.contents)
        return self._functions[number]

    def thread(self, number):
        """The thread with this number; its name may become known later."""
        found = self._library.sifive_reader_thread(self._opened(), number)
        return _copy(Thread, found.contents) if found else None

    @property
    def info(self):
        """Information about the trace, as far as it has been read."""
        return _copy(Info, self._library.sifive_reader_info(self._opened()).contents)

    @property
    def complete(self):
        """Return whether the trace contains everything that was recorded; None before the end."""
        complete = self._library.sifive_reader_complete(self._opened())
        return None if complete < 0 else bool(complete)

    @property
    def messages(self):
        """All messages so far: the summary, losses, errors."""
        return _text(self._library.sifive_reader_messages(self._opened()))

    def close(self):
        """Close the trace; numbers in its events remain valid, but functions and threads do not."""
        if self._reader:
            self._library.sifive_reader_free(self._reader)
            self._reader = None

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def __del__(self):
        if getattr(self, '_reader', None):
            self.close()
