/* anderson-6.eml for SPIN. */
#define N 6
byte slot[N];
byte next = 0;

init {
    d_step { slot[0] = 1; slot[1] = 0; slot[2] = 0; slot[3] = 0; slot[4] = 0; slot[5] = 0 }
    atomic { run P(); run P(); run P(); run P(); run P(); run P() }
}

proctype P() {
    byte mine = 0;
idle: if :: d_step { mine = next; next = next + 1 } goto reduce fi;
reduce: if
    :: d_step { mine == N - 1; next = next - N } goto waits
    :: d_step { mine != N - 1; mine = mine % N } goto waits
    fi;
waits: slot[mine] == 1; goto shut;
shut: slot[mine] = 0; goto inside;
inside: slot[(mine + 1) % N] = 1; goto idle
}
