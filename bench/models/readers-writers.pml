/* readers-writers.eml for SPIN. */
byte readers, data;
bit writing, m;
bit waits[4];
inline wake() { d_step { waits[0] = 0; waits[1] = 0; waits[2] = 0; waits[3] = 0 } }

active [2] proctype Reader() {
    byte before, seen;
begin: atomic { m == 0 -> m = 1 };
inside: if
    :: writing == 1 -> d_step { waits[_pid] = 1; m = 0 }; goto asleep
    :: writing == 0
    fi;
    seen = readers; readers = seen + 1; seen = 0; m = 0;
    before = data; assert(data == before); before = 0;
    atomic { m == 0 -> m = 1 };
    seen = readers; readers = seen - 1; seen = 0;
    if :: readers == 0 -> wake() :: readers != 0 fi;
    m = 0; goto begin;
asleep: atomic { waits[_pid] == 0 && m == 0 -> m = 1; goto inside }
}

active [2] proctype Writer() {
    byte seen;
begin: atomic { m == 0 -> m = 1 };
inside: if
    :: writing == 1 -> d_step { waits[_pid] = 1; m = 0 }; goto asleep
    :: writing == 0
    fi;
    if
    :: readers > 0 -> d_step { waits[_pid] = 1; m = 0 }; goto asleep
    :: readers == 0
    fi;
    writing = 1; m = 0;
    seen = data; data = (seen + 1) % 4; seen = 0;
    atomic { m == 0 -> m = 1 };
    writing = 0; wake(); m = 0; goto begin;
asleep: atomic { waits[_pid] == 0 && m == 0 -> m = 1; goto inside }
}
