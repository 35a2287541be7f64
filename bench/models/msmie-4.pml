/* msmie-4.eml for SPIN: 0 is Free, 1 Newest, 2 Slaves, 3 Masters. */
byte b[5];
byte readers = 0;
byte open = 1;
byte becomes = 0;

init {
    d_step { b[0] = 0; b[1] = 0; b[2] = 0; b[3] = 0; b[4] = 2 }
    atomic {
        run Slave(); run Slave(); run Slave(); run Slave(); run Slave();
        run Slave(); run Slave(); run Slave(); run Slave(); run Slave();
        run Master(); run Master(); run Master(); run Master(); run Master();
        run Master(); run Master(); run Master(); run Master(); run Master()
    }
}

proctype Slave() {
idle: if :: d_step { open == 1; open = 0 } goto discard fi;
discard: if
    :: d_step { b[0] == 1; b[0] = 0 } goto publish
    :: d_step { b[1] == 1; b[1] = 0 } goto publish
    :: d_step { b[2] == 1; b[2] = 0 } goto publish
    :: d_step { b[3] == 1; b[3] = 0 } goto publish
    :: d_step { b[4] == 1; b[4] = 0 } goto publish
    :: b[0] != 1 && b[1] != 1 && b[2] != 1 && b[3] != 1 && b[4] != 1; goto publish
    fi;
publish: if
    :: d_step { b[0] == 2; b[0] = 1 } goto claim
    :: d_step { b[1] == 2; b[1] = 1 } goto claim
    :: d_step { b[2] == 2; b[2] = 1 } goto claim
    :: d_step { b[3] == 2; b[3] = 1 } goto claim
    :: d_step { b[4] == 2; b[4] = 1 } goto claim
    :: b[0] != 2 && b[1] != 2 && b[2] != 2 && b[3] != 2 && b[4] != 2; goto stuck
    fi;
claim: if
    :: d_step { b[0] == 0; b[0] = 2 } goto leave
    :: d_step { b[1] == 0; b[1] = 2 } goto leave
    :: d_step { b[2] == 0; b[2] = 2 } goto leave
    :: d_step { b[3] == 0; b[3] = 2 } goto leave
    :: d_step { b[4] == 0; b[4] = 2 } goto leave
    :: b[0] != 0 && b[1] != 0 && b[2] != 0 && b[3] != 0 && b[4] != 0; goto stuck
    fi;
leave: open = 1; goto idle;
stuck: false
}

proctype Master() {
away: if :: d_step { open == 1; open = 0 } goto look fi;
look: if
    :: b[0] == 3; goto joins
    :: b[1] == 3; goto joins
    :: b[2] == 3; goto joins
    :: b[3] == 3; goto joins
    :: b[4] == 3; goto joins
    :: b[0] != 3 && b[1] != 3 && b[2] != 3 && b[3] != 3 && b[4] != 3; goto claims
    fi;
claims: if
    :: d_step { b[0] == 1; b[0] = 3 } goto joins
    :: d_step { b[1] == 1; b[1] = 3 } goto joins
    :: d_step { b[2] == 1; b[2] = 3 } goto joins
    :: d_step { b[3] == 1; b[3] = 3 } goto joins
    :: d_step { b[4] == 1; b[4] = 3 } goto joins
    :: d_step { b[0] != 1 && b[1] != 1 && b[2] != 1 && b[3] != 1 && b[4] != 1; open = 1 } goto away
    fi;
joins: if :: d_step { readers = readers + 1; open = 1 } goto reading fi;
reading: if :: d_step { open == 1; open = 0; readers = readers - 1 } goto left fi;
left: if
    :: readers == 0; goto judge
    :: readers > 0; goto unlock
    fi;
judge: if
    :: d_step { b[0] == 1; becomes = 0 } goto change
    :: d_step { b[0] != 1; becomes = 1 } goto change
    fi;
change: if
    :: d_step { b[0] == 3; b[0] = becomes } goto unlock
    :: d_step { b[0] == 3; b[0] = becomes } goto unlock
    :: d_step { b[0] == 3; b[0] = becomes } goto unlock
    :: d_step { b[0] == 3; b[0] = becomes } goto unlock
    :: d_step { b[0] == 3; b[0] = becomes } goto unlock
    fi;
unlock: open = 1; goto away
}
