/* producer-consumer.eml for SPIN. With -DHAND what is done under the monitor is one step. */
#define PLACES 2
byte count, first, last;
byte buffer[PLACES];
bit waits[6];
bit m;
inline wake() {
    d_step {
        waits[0] = 0; waits[1] = 0; waits[2] = 0; waits[3] = 0; waits[4] = 0; waits[5] = 0
    }
}
#ifdef HAND
active [3] proctype Producer() {
    byte value = 0;
begin: atomic { if :: value = 0 :: value = 1 fi; goto inside };
inside: atomic {
        if
        :: count < PLACES -> buffer[last] = value; last = (last + 1) % PLACES; count++; value = 0;
           wake(); goto begin
        :: else -> waits[_pid] = 1; goto asleep
        fi
    };
asleep: atomic { waits[_pid] == 0 -> goto inside }
}
active [3] proctype Consumer() {
    byte value = 0;
begin: atomic {
        if
        :: count > 0 -> value = buffer[first]; buffer[first] = 0; first = (first + 1) % PLACES;
           count--; wake(); assert(value < 2); value = 0; goto begin
        :: else -> waits[_pid] = 1; goto asleep
        fi
    };
asleep: atomic { waits[_pid] == 0 -> goto begin }
}
#else
active [3] proctype Producer() {
    byte value = 0;
begin: if :: value = 0 :: value = 1 fi; atomic { m == 0 -> m = 1 };
inside: if
    :: count < PLACES -> buffer[last] = value; last = (last + 1) % PLACES; count++; value = 0;
       wake(); m = 0; goto begin
    :: count == PLACES -> d_step { waits[_pid] = 1; m = 0 }; goto asleep
    fi;
asleep: atomic { waits[_pid] == 0 && m == 0 -> m = 1; goto inside }
}
active [3] proctype Consumer() {
    byte value = 0;
begin: atomic { m == 0 -> m = 1 };
inside: if
    :: count > 0 -> value = buffer[first]; buffer[first] = 0; first = (first + 1) % PLACES; count--;
       wake(); m = 0; assert(value < 2); value = 0; goto begin
    :: count == 0 -> d_step { waits[_pid] = 1; m = 0 }; goto asleep
    fi;
asleep: atomic { waits[_pid] == 0 && m == 0 -> m = 1; goto inside }
}
#endif
